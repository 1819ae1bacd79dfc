"""The asynchronous face; `sync` wraps it."""

from __future__ import annotations

import asyncio
import logging
import os
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from datetime import datetime
from types import TracebackType
from typing import Any

from . import history as pages
from .follow import Follow, feed_of
from .http import Http
from .items import Bar, FxdError, Item, seconds
from .liveness import Liveness, Verdict
from .stream import Outbox, Stream

Time = int | float | datetime
Key = str | Callable[[], str]
_SYMBOLS_PAGE = 1_000


class AsyncBars:
    """An asynchronous iterator of `Bar`, `Gap` and, if wanted, `Revised`. It ends with an `FxdError` or not at all."""

    def __init__(self, open_stream: Callable[[Outbox], Any], buffer: int, after: Mapping[str, int]) -> None:
        self._open_stream = open_stream
        self._outbox = Outbox(buffer)
        self._task: asyncio.Task[None] | None = None
        self._ready: deque[Item] = deque()
        self._position = dict(after)

    @property
    def position(self) -> dict[str, int]:
        """By symbol: the time of the last bar given. JSON-ready; `bars(…, after=position)` goes on behind it."""
        return dict(self._position)

    def __aiter__(self) -> AsyncBars:
        return self

    async def __anext__(self) -> Item:
        if not self._ready:
            self._ready.extend(await self.batch())
        item = self._ready.popleft()
        if isinstance(item, Bar):
            self._position[item.symbol] = item.time
        return item

    async def batch(self) -> list[Item]:
        """Items that came together; `position` does not count them."""
        if self._task is None:
            self._task = asyncio.create_task(self._open_stream(self._outbox))
        return await self._outbox.take()

    async def aclose(self) -> None:
        """Closes the socket. Breaking out of the loop does not, so use `contextlib.aclosing` or close the client."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self._outbox.end(StopAsyncIteration())


class AsyncFxd:
    """A client of one service.

    `key` is an API key, or a function that returns the present one; absent: `FXD_API_KEY`. `buffer` is how many
    bars wait for a slow reader. Methods raise `FxdError`; 429, 5xx and lost connections are retried for 2 minutes.
    Without a running event loop it cannot be made.
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
        self._key = _key_of(key)
        self._logger = logger or logging.getLogger("fxd")
        self._http = Http(url, self._key, self._logger)
        self._ws_url = ws_url or url.replace("http", "ws", 1)
        self._buffer = buffer
        self._liveness = Liveness()
        self._open: list[AsyncBars] = []

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
        wanted = [symbols] if isinstance(symbols, str) else list(symbols)
        for name in wanted:
            if not 2 <= len(name.split(":", 2)) <= 3:
                raise ValueError(f"symbol is {name!r}; it must be BROKER:ACCOUNT:NAME or BROKER:ACCOUNT.")
        first = None if start is None else seconds(start)
        position = dict(after or {})

        async def run(outbox: Outbox) -> None:
            feeds = [name for name in wanted if name.count(":") == 1]
            follow = Follow(feeds, first, revisions, self._liveness, self._logger)
            stream = Stream(self._http, self._ws_url, self._key, follow, outbox, self._logger)
            try:
                present = await stream.status()
                keys = [name for name in wanted if name.count(":") == 2]
                for feed in feeds:
                    keys += [each["symbol"] async for each in self.symbols(feed=feed)]
                for key in dict.fromkeys(keys):
                    now = present.get(feed_of(key))
                    # The minute before the present one has closed.
                    begin = (None if now is None else now // 60 * 60 - 60) if first is None else first - 1
                    follow.add(key, position.get(key, begin))
            except FxdError as error:
                return outbox.end(error)
            await stream.run()

        bars = AsyncBars(run, self._buffer, position)
        self._open.append(bars)
        return bars

    async def history(
        self, symbol: str, resolution: str = "1", start: Time = 0, end: Time | None = None
    ) -> AsyncIterator[Bar]:
        """All stored bars that open from `start` to `end`, both included and on the feed's clock, ascending."""
        last = None if end is None else seconds(end)
        async for bars in pages.pages(self._http, symbol, resolution, seconds(start), last):
            for bar in bars:
                yield bar

    async def symbols(
        self, search: str | None = None, feed: str | None = None
    ) -> AsyncIterator[dict[str, Any]]:
        """The symbols that the key may use, by compound key. `search` is a part of a display name."""
        offset, total = 0, 1
        while offset < total:
            page = await self._http.get("/v1/symbols", search=search, limit=_SYMBOLS_PAGE, offset=offset)
            total = page["total"]
            offset += _SYMBOLS_PAGE
            for each in page["symbols"]:
                if feed is None or each["feed"] == feed:
                    yield each

    async def symbol(self, key: str) -> dict[str, Any]:
        """All fields of one symbol."""
        return await self._get("/v1/symbols", symbol=key)

    async def coverage(self, symbol: str | None = None) -> dict[str, Any]:
        """Where there is data, as ranges `{from, to}` of opens; without `symbol` by symbol."""
        return await self._get("/v1/coverage", symbol=symbol)

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
        """By followed feed: `live`, `quiet` (alive, no trades), `dead` or `unknown` (it reports no heartbeats)."""
        return self._liveness.verdicts(asyncio.get_running_loop().time())

    async def aclose(self) -> None:
        """Closes all iterators and requests."""
        for bars in self._open:
            await bars.aclose()
        self._http.close()

    async def __aenter__(self) -> AsyncFxd:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _get(self, path: str, **query: object) -> dict[str, Any]:
        answer: dict[str, Any] = await self._http.get(path, **query)
        return answer


def _key_of(key: Key | None) -> Callable[[], str]:
    if callable(key):
        return key
    found = key or os.environ.get("FXD_API_KEY")
    if not found:
        raise ValueError("key is missing; give it, or set FXD_API_KEY.")
    return lambda: found


