"""Requests to the REST interface, with typed errors and retries."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from logging import Logger
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPRedirectHandler, Request, build_opener

from .items import FxdError

#: Requests at once of one client.
REQUESTS_MAX = 4
#: Seconds for which a request of `history` is tried again.
PATIENCE = 120.0
#: Seconds that the service may be silent in the middle of an answer.
_TIMEOUT = 30
CLOSED = "the client is closed."
_PAUSE_MIN, _PAUSE_MAX = 0.5, 30.0


class _NoRedirect(HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        """The key would go to another host."""


OPENER = build_opener(_NoRedirect)


def pause_after(failures: int, retry_after: float | None = None) -> float:
    """Seconds until the next try: full jitter, and never before `retry_after`."""
    jitter = random.uniform(_PAUSE_MIN, min(_PAUSE_MAX, 2.0 ** min(failures, 6)))
    return jitter if retry_after is None else retry_after + jitter


class Http:
    """Asks paths of one service. Threads wait for the answers, because the standard library has no other client."""

    def __init__(self, url: str, key: Callable[[], str], logger: Logger) -> None:
        if not url.startswith(("http://", "https://")):
            raise ValueError(f"url is {url!r}; it must begin with http:// or https://.")
        self._url = url.rstrip("/")
        self.key = key
        self._logger = logger
        self._threads = ThreadPoolExecutor(REQUESTS_MAX, "fxd")
        self._closed = False
        #: Requests that were tried again.
        self.retries = 0

    async def get(self, path: str, query: Mapping[str, object], patience: float) -> Any:
        """The answer of a path, as parsed JSON. What may pass is retried for `patience` seconds."""
        given = {name: value for name, value in query.items() if value is not None}
        target = f"{self._url}{path}?{urlencode(given)}" if given else f"{self._url}{path}"
        loop = asyncio.get_running_loop()
        end = loop.time() + patience
        failures = 0
        while True:
            self.check_open()
            key = self.key()
            if not (key.isascii() and key.isprintable()) or " " in key:
                raise ValueError("key has a space or another character that no key has.")
            try:
                return await loop.run_in_executor(self._threads, self._ask, target, key)
            except FxdError as error:
                if error.status == 401 and self.key() != key:
                    continue
                pause = pause_after(failures, error.retry_after)
                if not error.may_pass or loop.time() + pause > end:
                    raise
                failures += 1
                self.retries += 1
                self._logger.info("request failed; retrying: path=%s why=%s", path, error)
            await asyncio.sleep(pause)

    def check_open(self) -> None:
        if self._closed:
            raise RuntimeError(CLOSED)

    def close(self) -> None:
        self._closed = True
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _ask(self, target: str, key: str) -> Any:
        request = Request(target, headers={"X-API-Key": key, "Accept": "application/json"})
        try:
            with OPENER.open(request, timeout=_TIMEOUT) as response:
                return json.load(response)
        except HTTPError as error:
            headers = error.headers
            raise refusal(error.code, headers.get("Retry-After"), error.read(), headers.get("Location")) from None
        except (OSError, HTTPException, ValueError) as error:
            raise FxdError("UNAVAILABLE", f"no answer: {error}") from error


def refusal(
    status: int, retry_after: str | None, body: bytes | bytearray | None, location: str | None = None
) -> FxdError:
    """The error of an HTTP answer."""
    if 300 <= status < 400:
        return FxdError("REDIRECTED", f"HTTP status {status} to {location}; give this address as url.", status=status)
    code, message = "UNAVAILABLE", f"HTTP status {status}"
    try:
        error = json.loads(body or b"")["error"]
        code, message = str(error["code"]), str(error["message"])
    except (ValueError, KeyError, TypeError):
        pass  # The answer is of a proxy.
    wait = float(retry_after) if retry_after and retry_after.isdigit() else None
    return FxdError(code, message, status=status, retry_after=wait)
