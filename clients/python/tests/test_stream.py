"""How a socket ends, without one."""

import logging
import unittest
from collections.abc import AsyncIterator

from fxd.follow import Follow
from fxd.http import Http
from fxd.outbox import Outbox
from fxd.stream import Stream


class Frames:
    """Frames up to a close in order."""

    def __init__(self, *frames: str) -> None:
        self.frames = frames
        self.transport = self
        self.aborted = False

    def abort(self) -> None:
        self.aborted = True

    async def __aiter__(self) -> AsyncIterator[str]:
        for frame in self.frames:
            yield frame


class StreamTest(unittest.IsolatedAsyncioTestCase):
    def stream(self, limit: int) -> Stream:
        logger = logging.getLogger()
        follow = Follow([], None, False, logger)
        http = Http("http://127.0.0.1:9", lambda: "fxd_x", logger)
        return Stream(http, "ws://127.0.0.1:9", follow, Outbox(limit), logger)

    async def test_a_close_in_order_is_not_a_full_buffer(self) -> None:
        frames = Frames('{"type":"pong"}')
        self.assertIs(await self.stream(1)._read(frames), False)
        self.assertFalse(frames.aborted)

    async def test_a_full_buffer_ends_the_reading_of_a_socket(self) -> None:
        frames = Frames('{"type":"pong"}')
        self.assertTrue(await self.stream(0)._read(frames))
        self.assertTrue(frames.aborted)

    def verdict(self, stream: Stream) -> str:
        stream._follow.liveness.status("A:B", {"status": "live", "liveness_source": "heartbeat"})
        return stream.liveness["A:B"]

    async def test_the_verdict_is_unknown_before_the_first_socket_and_dead_once_it_is_lost(self) -> None:
        stream = self.stream(1)
        self.assertEqual(self.verdict(stream), "unknown")
        stream._opened({})
        self.assertEqual(self.verdict(stream), "dead")

    async def test_the_verdict_is_unknown_from_a_full_buffer_to_the_next_socket(self) -> None:
        stream = self.stream(1)
        stream._opened({})
        await stream._pause_full()
        self.assertEqual(self.verdict(stream), "unknown")
        stream._opened({})
        self.assertEqual(self.verdict(stream), "dead")


if __name__ == "__main__":
    unittest.main()
