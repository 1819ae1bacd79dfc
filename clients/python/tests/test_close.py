"""What an iterator and a client give once they are closed."""

import gc
import sys
import unittest
import warnings
from subprocess import PIPE, Popen
from threading import Thread

from fxd import AsyncFxd, Bar, Fxd

KEY = "A:B:EURUSD"
BARS = [Bar(KEY, minute * 60, 1.1, 1.2, 1.0, 1.15, 7) for minute in range(5_000)]
CLOSED = "^the client is closed.$"


class CloseTest(unittest.TestCase):
    def setUp(self) -> None:
        self.client = Fxd("http://127.0.0.1:9", "fxd_x")
        self.addCleanup(self.client.close)

    def test_a_closed_iterator_ends_at_once_though_bars_wait_in_its_buffer(self) -> None:
        bars = self.client.bars(KEY, start=0)
        bars._bars._outbox.put(BARS)
        self.assertEqual(next(bars), BARS[0])
        bars.close()
        self.assertEqual(list(bars), [])
        self.assertEqual(bars.position, {KEY: 0})

    def test_an_iterator_that_was_closed_before_its_first_item_opens_no_connection(self) -> None:
        bars = self.client.bars(KEY)
        bars.close()
        self.assertEqual(list(bars), [])
        self.assertIsNone(bars._bars._task)

    def test_each_call_of_a_closed_client_raises_one_sentence_and_warns_of_nothing(self) -> None:
        bars = self.client.bars(KEY, start=0)
        bars._bars._outbox.put(BARS)
        next(bars)
        history = self.client.history(KEY)
        self.client.close()
        calls = [
            lambda: next(bars), lambda: next(history), self.client.status, self.client.usage,
            lambda: self.client.coverage(KEY), lambda: next(self.client.symbols()), lambda: self.client.bars(KEY),
        ]  # fmt: skip
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            for call in calls:
                with self.assertRaisesRegex(RuntimeError, CLOSED):
                    call()
            bars.close()
            self.client.close()
            gc.collect()
        self.assertEqual([str(each.message) for each in warned], [])

    def test_a_call_that_waits_in_another_thread_ends_with_the_client(self) -> None:
        raised: list[BaseException] = []

        def call() -> None:
            try:
                next(self.client.history(KEY))
            except RuntimeError as error:
                raised.append(error)

        waiting = Thread(target=call)
        waiting.start()
        self.client.close()
        waiting.join(10)
        self.assertEqual([str(each) for each in raised], ["the client is closed."])


    def test_a_loop_that_waits_ends_once_another_thread_closes_its_iterator(self) -> None:
        bars = self.client.bars(KEY)
        items: list[object] = []
        waiting = Thread(target=lambda: items.extend(bars))
        waiting.start()
        bars.close()
        waiting.join(10)
        self.assertEqual((waiting.is_alive(), items), (False, []))

    def test_a_program_that_exits_upon_sigterm_closes_its_client_and_ends(self) -> None:
        program = """
import signal, sys
from fxd import Fxd
signal.signal(signal.SIGTERM, lambda *_: sys.exit())
with Fxd("http://127.0.0.1:9", "fxd_x") as client:
    print("begun", flush=True)
    next(client.bars("A:B:C"))
"""
        with Popen([sys.executable, "-c", program], stdout=PIPE, stderr=PIPE, text=True) as process:
            assert process.stdout is not None
            self.assertEqual(process.stdout.readline(), "begun\n")
            process.terminate()
            self.assertEqual((process.communicate(timeout=20)[1], process.returncode), ("", 0))


class AsyncCloseTest(unittest.IsolatedAsyncioTestCase):
    async def test_a_closed_iterator_ends_at_once_though_bars_wait_in_its_buffer(self) -> None:
        async with AsyncFxd("http://127.0.0.1:9", "fxd_x") as client:
            bars = client.bars(KEY, start=0)
            bars._outbox.put(BARS)
            self.assertEqual(await bars.__anext__(), BARS[0])
            await bars.aclose()
            self.assertEqual([item async for item in bars], [])

    async def test_each_call_of_a_closed_client_raises_one_sentence(self) -> None:
        client = AsyncFxd("http://127.0.0.1:9", "fxd_x")
        bars = client.bars(KEY)
        await client.aclose()
        for call in (bars.__anext__, client.status):
            with self.assertRaisesRegex(RuntimeError, CLOSED):
                await call()
        with self.assertRaisesRegex(RuntimeError, CLOSED):
            client.bars(KEY)


if __name__ == "__main__":
    unittest.main()
