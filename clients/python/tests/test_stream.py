"""How a socket ends, without one, and what a service says before one opens."""

import json
import logging
import unittest
from collections.abc import AsyncIterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

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
    def stream(self, limit: int, port: int = 9) -> Stream:
        logger = logging.getLogger("test")
        follow = Follow(["A:B:EURUSD"], None, {}, False, logger)
        http = Http(f"http://127.0.0.1:{port}", lambda: "fxd_x", logger)
        return Stream(http, f"ws://127.0.0.1:{port}", follow, Outbox(limit), logger)

    def serve(self) -> int:
        """The port of a service with two feeds, whose connections are all in use."""
        feed = {"status": "live", "liveness_source": "heartbeat", "last_candle_age_seconds": 900}
        status = {"server_time": 0, "feeds": {"A:B": feed, "A:OTHER": feed}}
        refused = {"error": {"code": "TOO_MANY_CONNECTIONS", "message": "All are in use."}}

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                is_stream = self.path.startswith("/v1/stream")
                body = json.dumps(refused if is_stream else status).encode()
                self.send_response(429 if is_stream else 200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        Handler.protocol_version = "HTTP/1.1"
        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server.server_port

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

    async def test_feeds_that_are_not_followed_have_no_verdict(self) -> None:
        stream = self.stream(1, self.serve())
        await stream.present()
        self.assertEqual(stream.feeds, {"A:B", "A:OTHER"})
        self.assertEqual(stream.liveness, {"A:B": "unknown"})
        self.assertEqual(stream._follow.liveness.verdicts(True, True, 0), {"A:B": "quiet"})

    async def test_an_upgrade_that_is_refused_since_all_connections_are_in_use_is_a_warning(self) -> None:
        stream = self.stream(1, self.serve())
        with self.assertLogs("test", logging.WARNING) as logs:
            await stream._connection()
        self.assertIn("no connection; retrying: why=TOO_MANY_CONNECTIONS", logs.output[0])


if __name__ == "__main__":
    unittest.main()
