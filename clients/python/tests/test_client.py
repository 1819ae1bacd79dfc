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

    async def test_a_closed_iterator_has_no_part_in_the_liveness_of_the_client(self) -> None:
        client = AsyncFxd("http://127.0.0.1:9", "fxd_x")
        bars = client.bars(KEY)
        self.assertEqual(list(client._open), [bars])
        await bars.aclose()
        self.assertEqual(list(client._open), [])

    async def test_an_iterator_that_ended_with_an_error_has_no_part_in_the_liveness_of_the_client(self) -> None:
        def key() -> str:
            raise OSError("no file of the key")

        client = AsyncFxd("http://127.0.0.1:9", key)
        with self.assertRaises(OSError):
            await self.first(client)
        self.assertEqual(list(client._open), [])


if __name__ == "__main__":
    unittest.main()
