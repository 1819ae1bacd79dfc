"""Redirects of a real server, which would send the key to another one."""

import asyncio
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from fxd import AsyncFxd, FxdError


class RedirectTest(unittest.IsolatedAsyncioTestCase):
    def serve(self, answered: list[str], target: str | None = None) -> tuple[str, list[str]]:
        """The address and the paths of the requests. A server redirects to `target`, except for paths in `answered`."""
        paths: list[str] = []

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                paths.append(self.path)
                redirects = target is not None and self.path not in answered
                self.send_response(302 if redirects else 200)
                if redirects:
                    self.send_header("Location", f"{target}{self.path}")
                body = b"" if redirects else b'{"feeds": {}, "server_time": 0}'
                self.send_header("Content-Length", str(len(body)))
                self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"http://127.0.0.1:{server.server_port}", paths

    async def end_of(self, answered: list[str], last: str) -> list[str]:
        """The requests until an iterator ended at the path `last`."""
        target, elsewhere = self.serve([])
        url, paths = self.serve(answered, target)
        async with AsyncFxd(url, "fxd_x") as fxd:
            with self.assertRaises(FxdError) as raised:
                await asyncio.wait_for(fxd.bars("A:B:C").__anext__(), 5)
        self.assertEqual((raised.exception.code, raised.exception.status), ("REDIRECTED", 302))
        self.assertIn(f"{target}{last}", raised.exception.message)
        self.assertEqual(elsewhere, [])
        return paths

    async def test_a_redirect_of_status_ends_the_iterator_and_its_target_gets_no_request(self) -> None:
        self.assertEqual(await self.end_of([], "/v1/status"), ["/v1/status"])

    async def test_a_redirect_of_the_stream_ends_the_iterator_and_its_target_gets_no_request(self) -> None:
        paths = await self.end_of(["/v1/status"], "/v1/stream")
        self.assertEqual(paths, ["/v1/status", "/v1/status", "/v1/stream"])


if __name__ == "__main__":
    unittest.main()
