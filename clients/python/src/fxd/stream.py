"""Drives the rules of `Follow` with a socket, requests and a clock, and fills an outbox."""

from __future__ import annotations

import asyncio
import json
import logging
import math
from collections.abc import Coroutine
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException

from .follow import Follow, Job
from .history import read, read_page
from .http import REQUESTS_MAX, Http, pause_after, refusal
from .items import FxdError
from .liveness import Verdict
from .outbox import Outbox

_PING_EVERY, _HEARD_LATE = 20.0, 60.0
_STATUS_EVERY = 600.0
#: While the event loop was blocked longer than this, silence says nothing about the service.
_LAG_MAX = 5.0
_OPEN_TIMEOUT = 15.0
#: Offsets are measured to the quarter of an hour.
_CLOCK_STEP = 900


class Upgrade(connect):
    def process_redirect(self, exc: Exception) -> Exception | str:
        """A redirect is not followed: the key would go to another host."""
        return exc


class Stream:
    """Follows symbols until `run` is cancelled or the service says that a person must act."""

    def __init__(
        self, http: Http, ws_url: str, follow: Follow, outbox: Outbox, logger: logging.Logger
    ) -> None:
        self._http = http
        self._url = f"{ws_url.rstrip('/')}/v1/stream"
        self._follow = follow
        self._outbox = outbox
        self._logger = logger
        #: The feeds that the key may use.
        self.feeds: set[str] = set()
        self._offsets: dict[str, int] = {}
        self._socket: ClientConnection | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._main: asyncio.Task[Any] | None = None
        self._requests = 0
        self._failures = 0
        #: A socket was open, and a full buffer did not close it.
        self._reading = False
        self._first_opened: float | None = None
        #: Whether something was tried again, so that the next socket is worth a line.
        self._lost = False
        #: The first time is a warning.
        self._full_level = logging.WARNING
        #: When the last frame came.
        self._heard = 0.0
        self._loop_time = asyncio.get_running_loop().time

    async def run(self) -> None:
        self._main = asyncio.current_task()
        self._spawn(self._beats())
        try:
            while True:
                await self._connection()
        except Exception as error:
            self._outbox.end(error)
        finally:
            for task in self._tasks:
                task.cancel()

    def _spawn(self, work: Coroutine[Any, Any, object]) -> None:
        async def run() -> None:
            try:
                await work
            except Exception as error:
                self._outbox.end(error)
                if self._main is not None:
                    self._main.cancel()

        task = asyncio.create_task(run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    @property
    def liveness(self) -> dict[str, Verdict]:
        sound = self._socket is not None and self._loop_time() - self._heard <= _HEARD_LATE
        age = self._loop_time() - self._first_opened if self._first_opened is not None else 0
        return self._follow.liveness.verdicts(self._reading and not self._outbox.full, sound, age)

    async def present(self) -> dict[str, int]:
        """The time on the clock of each feed whose clock is known."""
        retries = self._http.retries
        status = await self._http.get("/v1/status", {}, math.inf)
        self._lost = self._lost or self._http.retries > retries
        present = {}
        self.feeds = set(status["feeds"])
        for feed, fields in status["feeds"].items():
            if feed in self._follow.feeds:
                self._follow.liveness.status(feed, fields)
            offset = fields.get("clock_offset_seconds")
            if offset is not None:
                by = offset - self._offsets.setdefault(feed, offset)
                self._offsets[feed] = offset
                if by >= _CLOCK_STEP:
                    self._outbox.put(self._follow.clock_set_back(feed, by))
                present[feed] = status["server_time"] - offset
        return present

    async def _connection(self) -> None:
        """One socket, from its upgrade to its close and the pause after it."""
        retry_after: float | None = None
        why: object
        level = logging.INFO
        key = self._http.key()
        try:
            present = await self.present()
            async with Upgrade(
                self._url,
                additional_headers={"X-API-Key": key},
                ping_interval=None,
                max_size=None,
                open_timeout=_OPEN_TIMEOUT,
            ) as self._socket:
                self._opened(present)
                full = await self._read(self._socket)
            if full:
                return await self._pause_full()
            why = "closed in order"
        except InvalidStatus as error:
            response = error.response
            headers = response.headers
            location = headers.get("Location")
            refused = refusal(response.status_code, headers.get("Retry-After"), response.body, location)
            if not refused.may_pass and self._http.key() == key:
                raise refused from None
            retry_after, why = refused.retry_after, refused
            if refused.code == "TOO_MANY_CONNECTIONS":
                # It can last until a person closes a program.
                level = logging.WARNING
        except ConnectionClosed as error:
            why = self._closed(error, key)
        except (OSError, TimeoutError, asyncio.TimeoutError, WebSocketException) as error:
            why = error
        finally:
            self._socket = None
        pause = pause_after(self._failures, retry_after)
        self._failures += 1
        self._lost = True
        self._logger.log(level, "no connection; retrying: why=%s pause=%.1f", why, pause)
        await asyncio.sleep(pause)

    def _opened(self, present: dict[str, int]) -> None:
        self._reading, self._heard = True, self._loop_time()
        self._first_opened = self._first_opened or self._heard
        if self._lost:
            self._lost = False
            self._logger.info("connected again: url=%s", self._url)
        self._follow.opened(present)

    def _closed(self, error: ConnectionClosed, key: str) -> str:
        """Why the socket closed, if the client may return: it may with another key."""
        code = 1006 if error.rcvd is None else error.rcvd.code
        reason = "" if error.rcvd is None else error.rcvd.reason
        if 4500 <= code <= 4999 and self._http.key() == key:
            named, message = self._follow.refusal or ("CLOSED", reason)
            raise FxdError(named, message, close_code=code, close_reason=reason) from None
        return f"closed with {code} {reason}".strip()

    async def _read(self, socket: ClientConnection) -> bool:
        """Reads frames until the socket is closed in order, or, with True, until the outbox is full."""
        follow, outbox, now = self._follow, self._outbox, self._loop_time
        await self._act()
        async for frame in socket:
            self._heard = at = now()
            outbox.put(follow.frame(frame, at))
            if follow.dirty:
                self._failures = 0
                await self._act()
            if outbox.full:
                # A close in order would wait for frames that nobody reads.
                socket.transport.abort()
                return True
        return False

    async def _pause_full(self) -> None:
        self._reading = False
        level, self._full_level = self._full_level, logging.INFO
        self._logger.log(level, "buffer full; the socket is closed until the buffer is empty")
        await self._outbox.drained()

    async def _act(self) -> None:
        """Sends and reads what the rules want now."""
        follow, now = self._follow, self._loop_time()
        follow.dirty = False
        while self._requests < REQUESTS_MAX and not self._outbox.full:
            job = follow.next_job(now)
            if job is None:
                break
            self._requests += 1
            self._spawn(self._work(job))
        socket = self._socket
        for message in follow.messages(now) if socket is not None else []:
            await self._send(socket, message)

    async def _work(self, job: Job) -> None:
        follow, symbol = self._follow, job.series.key
        try:
            if job.behind:
                page = await read_page(self._http, symbol, "1", job.start, job.end, job.growth, math.inf)
                self._outbox.put(follow.behind(job, page))
            else:
                bars = await read(self._http, symbol, "1", job.start, job.end, math.inf)
                ranges = None
                if follow.needs_coverage(job, bars):
                    query = {"symbol": symbol, "resolution": "1"}
                    ranges = (await self._http.get("/v1/coverage", query, math.inf))["coverage"]
                self._outbox.put(follow.held(job, bars, ranges, self._loop_time()))
        finally:
            self._requests -= 1
        # The next job takes the place of this one.
        await self._act()

    async def _beats(self) -> None:
        """Each second: due work. Each 20 s: a ping. Each 10 min: the clocks of the feeds."""
        now = self._loop_time
        beat = pinged = asked = now()
        while True:
            await asyncio.sleep(0.2 if self._follow.dirty else 1)
            lag, beat = now() - beat, now()
            if lag > _LAG_MAX:
                self._heard = beat
            # As tasks: a socket that takes nothing must not stop this loop.
            self._spawn(self._act())
            socket = self._socket
            if socket is None:
                continue
            if beat - self._heard > _HEARD_LATE:
                self._logger.warning("no answer to pings; the socket is closed")
                socket.transport.abort()
            elif beat - pinged >= _PING_EVERY:
                pinged = beat
                self._spawn(self._send(socket, {"action": "ping"}))
            if beat - asked >= _STATUS_EVERY:
                asked = beat
                self._spawn(self.present())

    async def _send(self, socket: ClientConnection | None, message: dict[str, Any]) -> None:
        try:
            if socket is not None:
                await socket.send(json.dumps(message, separators=(",", ":")))
        except ConnectionClosed:
            pass  # The reader learns it too.
