"""What reaches the reader of an iterator, without a socket."""

import asyncio
import unittest

from fxd import AsyncFxd

KEY = "A:B:EURUSD"


class ClientTest(unittest.IsolatedAsyncioTestCase):
    async def first(self, client: AsyncFxd) -> None:
        await asyncio.wait_for(client.bars(KEY).__anext__(), 5)

    async def test_an_exception_of_the_key_function_reaches_the_reader(self) -> None:
        def key() -> str:
            raise OSError("no file of the key")

        with self.assertRaisesRegex(OSError, "no file of the key"):
            await self.first(AsyncFxd("http://127.0.0.1:9", key))

    async def test_an_iterator_of_a_closed_client_raises(self) -> None:
        client = AsyncFxd("http://127.0.0.1:9", "fxd_x")
        await client.aclose()
        with self.assertRaisesRegex(RuntimeError, "shutdown"):
            await self.first(client)


if __name__ == "__main__":
    unittest.main()
