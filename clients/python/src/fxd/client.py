"""The asynchronous face; `sync` wraps it."""

from __future__ import annotations

import asyncio
import logging
import math
import os
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping
from datetime import datetime
from types import TracebackType
from typing import Any

from . import history as pages
from .follow import Follow, feed_of, rejection
from .http import CLOSED, Http
from .items import Bar, FxdError, Item, seconds
from .liveness import Verdict
from .outbox import Outbox
from .stream import Stream

Time = int | float | datetime
Key = str | Callable[[], str]
_SYMBOLS_PAGE = 1_000


class Given:
    """Items that the reader gets next, and what it got."""

    def __init__(self, position: dict[str, int]) -> None:
        self.position = position
        self.ready: deque[Item] = deque()
        #: The iterator was closed, so that what is ready is not given.
        self.closed = False

    @property
    def empty(self) -> bool:
        return self.closed or not self.ready

    def next(self) -> Item:
        item = self.ready.popleft()
        if type(item) is Bar:
            self.position[item.symbol] = item.time
        return item


class AsyncBars:
    """An asynchronous iterator of `Bar`, `Gap` and, if wanted, `Revised`. It ends with an `FxdError` or not at all."""

    def __init__(
        self,
        prepare: Callable[[], Coroutine[Any, Any, Stream]],
        given: Given,
        outbox: Outbox,
        open_ones: dict[AsyncBars, None],
    ) -> None:
        self._prepare = prepare
        self._open_ones = open_ones
        self._given = given
        self._outbox = outbox
        self._stream: Stream | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def position(self) -> dict[str, int]:
        """By symbol: the time of the last bar given, or, before the first, the time behind which bars begin.

        It can be kept as JSON; `bars(…, after=position)` goes on behind it.
        """
        return dict(self._given.position)

    @property
    def liveness(self) -> dict[str, Verdict]:
        """By feed: `live`, `quiet` (alive, no trades), `dead`, or `unknown` (no heartbeats, or not connected yet)."""
        return {} if self._stream is None else self._stream.liveness

    def __aiter__(self) -> AsyncBars:
        return self

    async def __anext__(self) -> Item:
        if self._given.empty:
            await self._fetch()
        return self._given.next()

    async def _fetch(self) -> None:
        if self._task is None and not self._outbox.ended:
            self._task = asyncio.create_task(self._run())
        self._given.ready.extend(await self._outbox.take())

    async def _run(self) -> None:
        try:
            self._stream = await self._prepare()
            await self._stream.run()
        except Exception as error:
            self._outbox.end(error)
        finally:
            self._open_ones.pop(self, None)

    async def aclose(self) -> None:
        """Closes the socket, and ends the iterator at once: what was not given is dropped.

        Breaking out of the loop does not, so use `contextlib.aclosing` or close the client.
        """
        await self._close(StopAsyncIteration())

    async def _close(self, end: Exception) -> None:
        self._given.closed = True
        self._outbox.close(end)
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self._open_ones.pop(self, None)


class AsyncFxd:
    """A client of one service.

    `key` is an API key, or a function that returns the present one, so that keys can be rotated. Absent:
    `FXD_API_KEY`. `buffer` is how many bars wait for a slow reader. Methods raise `FxdError`, and `ValueError` for wrong
    arguments. What may pass (429, 5xx, lost connections, answers of a proxy) is retried: by `bars` for ever, by `history`
    for 2 minutes. The other calls raise at once.
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8080",
        key: Key | None = None,
        *,
        ws_url: str | None = None,
        logger: logging.Logger | None = None,
        buffer: int = 100_000,
    ) -> None:
        self._logger = logger or logging.getLogger("fxd")
        self._http = Http(url, _key_of(key), self._logger)
        self._ws_url = ws_url or url.replace("http", "ws", 1)
        if not self._ws_url.startswith(("ws://", "wss://")):
            raise ValueError(f"ws_url is {ws_url!r}; it must begin with ws:// or wss://.")
        self._buffer = buffer
        self._open: dict[AsyncBars, None] = {}

    def bars(
        self,
        symbols: str | Iterable[str],
        *,
        start: Time | None = None,
        after: Mapping[str, int] | None = None,
        revisions: bool = False,
    ) -> AsyncBars:
        """One-minute bars into the present: each once, ascending per symbol.

        `symbols` are compound keys; `BROKER:ACCOUNT` means all symbols of the feed. Bars begin behind `after` (by
        symbol), else at `start` (on the feed's clock), else with the next one that closes.
        """
        self._http.check_open()
        wanted = [symbols] if isinstance(symbols, str) else list(symbols)
        if not wanted:
            raise ValueError("symbols is empty; it must have a BROKER:ACCOUNT:NAME or BROKER:ACCOUNT.")
        for name in wanted:
            if not isinstance(name, str) or ":" not in name:
                raise ValueError(f"symbols has {name!r}; it must be BROKER:ACCOUNT:NAME or BROKER:ACCOUNT.")
        first = None if start is None else seconds("start", start)
        if after is not None and not isinstance(after, Mapping):
            raise ValueError(f"after is {after!r}; it must be a position: symbols with epoch seconds.")
        given = Given({key: seconds(f"after[{key!r}]", time) for key, time in (after or {}).items()})
        outbox = Outbox(self._buffer)

        async def prepare() -> Stream:
            feeds = [name for name in wanted if name.count(":") == 1]
            follow = Follow(wanted, first, given.position, revisions, self._logger)
            stream = Stream(self._http, self._ws_url, follow, outbox, self._logger)
            present = await stream.present()
            keys = [name for name in wanted if name.count(":") > 1]
            for feed in feeds:
                if feed not in stream.feeds:
                    raise rejection(feed)
            if feeds:
                keys += [each["symbol"] async for each in self._symbols(None, math.inf) if each["feed"] in feeds]
            for key in dict.fromkeys(keys):
                now = present.get(feed_of(key))
                # The minute before the present one has closed.
                begin = (None if now is None else now // 60 * 60 - 60) if first is None else first - 1
                last = given.position.get(key, begin)
                follow.add(key, last)
                if last is not None:
                    given.position[key] = max(0, last)
            return stream

        bars = AsyncBars(prepare, given, outbox, self._open)
        self._open[bars] = None
        return bars

    async def history(
        self, symbol: str, resolution: str = "1", start: Time = 0, end: Time | None = None
    ) -> AsyncIterator[Bar]:
        """All stored bars that open from `start` to `end`, both included and on the feed's clock, ascending."""
        last = None if end is None else seconds("end", end)
        async for bars in pages.pages(self._http, symbol, resolution, seconds("start", start), last):
            for bar in bars:
                yield bar

    async def symbols(self, search: str | None = None) -> AsyncIterator[dict[str, Any]]:
        """The symbols that the key may use, by compound key. `search` is a part of a display name."""
        async for each in self._symbols(search, 0):
            yield each

    async def _symbols(self, search: str | None, patience: float) -> AsyncIterator[dict[str, Any]]:
        offset, total = 0, 1
        while offset < total:
            query = {"search": search, "limit": _SYMBOLS_PAGE, "offset": offset}
            page = await self._http.get("/v1/symbols", query, patience)
            total = page["total"]
            offset += _SYMBOLS_PAGE
            for each in page["symbols"]:
                yield each

    async def symbol(self, key: str) -> dict[str, Any]:
        """All fields of one symbol."""
        return await self._get("/v1/symbols", symbol=key)

    async def coverage(self, symbol: str | None = None, *, resolution: str | None = None) -> dict[str, Any]:
        """Where there is data, as ranges `{from, to}` of opens; without `symbol` by symbol.

        Without `resolution` a time counts for which there are bars of any resolution.
        """
        return await self._get("/v1/coverage", symbol=symbol, resolution=resolution)

    async def status(self) -> dict[str, Any]:
        """The platform, and clock and liveness of each feed."""
        return await self._get("/v1/status")

    async def usage(self, days: int | None = None) -> dict[str, Any]:
        """Limits and counts of the key, of at most 90 days."""
        return await self._get("/v1/usage", days=days)

    async def config(self) -> dict[str, Any]:
        """The configuration object of charting libraries."""
        return await self._get("/v1/config")

    @property
    def liveness(self) -> dict[str, Verdict]:
        """The verdicts of all open iterators. One that knows nothing yet changes none."""
        verdicts: dict[str, Verdict] = {}
        for bars in list(self._open):
            for feed, verdict in bars.liveness.items():
                if verdict != "unknown" or feed not in verdicts:
                    verdicts[feed] = verdict
        return verdicts

    async def aclose(self) -> None:
        """Closes all iterators and requests. Every later call raises a `RuntimeError`."""
        for bars in list(self._open):
            await bars._close(RuntimeError(CLOSED))
        self._http.close()

    async def __aenter__(self) -> AsyncFxd:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _get(self, path: str, **query: object) -> dict[str, Any]:
        answer: dict[str, Any] = await self._http.get(path, query, 0)
        return answer


def _key_of(key: Key | None) -> Callable[[], str]:
    if callable(key):
        return key
    found = key or os.environ.get("FXD_API_KEY")
    if not found:
        raise ValueError("key is missing; give it, or set FXD_API_KEY.")
    return lambda: found
