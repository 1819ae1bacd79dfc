"""The synchronous face: the asynchronous one on an event loop in a thread, so that a busy reader loses no ping."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Coroutine, Iterable, Iterator, Mapping
from concurrent.futures import CancelledError
from logging import Logger
from types import TracebackType
from typing import Any, TypeVar

from .client import AsyncBars, AsyncFxd, Key, Time
from .http import CLOSED
from .items import Bar, Item
from .liveness import Verdict

T = TypeVar("T")


class Bars:
    """An iterator of `Bar`, `Gap` and, if wanted, `Revised`. It ends with an `FxdError` or not at all."""

    def __init__(self, thread: _LoopThread, bars: AsyncBars) -> None:
        self._thread = thread
        self._bars = bars
        self._given = bars._given

    @property
    def position(self) -> dict[str, int]:
        """See `AsyncBars.position`."""
        return self._bars.position

    @property
    def liveness(self) -> dict[str, Verdict]:
        """See `AsyncBars.liveness`."""
        return self._bars.liveness

    def __iter__(self) -> Bars:
        return self

    def __next__(self) -> Item:
        if self._given.empty:
            try:
                self._thread.run(self._bars._fetch())
            except StopAsyncIteration:
                raise StopIteration from None
        return self._given.next()

    def close(self) -> None:
        """Closes the socket, and ends the iterator at once: what was not given is dropped.

        Breaking out of the loop does not.
        """
        if not self._thread.ended:
            self._thread.run(self._bars.aclose())


class Fxd:
    """A client of one service; arguments and methods are those of `AsyncFxd`."""

    def __init__(
        self,
        url: str = "http://127.0.0.1:8080",
        key: Key | None = None,
        *,
        ws_url: str | None = None,
        logger: Logger | None = None,
        buffer: int = 100_000,
    ) -> None:
        self._client = AsyncFxd(url, key, ws_url=ws_url, logger=logger, buffer=buffer)
        self._thread = _LoopThread()

    def bars(
        self,
        symbols: str | Iterable[str],
        *,
        start: Time | None = None,
        after: Mapping[str, int] | None = None,
        revisions: bool = False,
    ) -> Bars:
        """One-minute bars into the present; see `AsyncFxd.bars`."""
        bars = self._client.bars(symbols, start=start, after=after, revisions=revisions)
        return Bars(self._thread, bars)

    def history(
        self, symbol: str, resolution: str = "1", start: Time = 0, end: Time | None = None
    ) -> Iterator[Bar]:
        """All stored bars that open from `start` to `end`, both included and on the feed's clock, ascending."""
        return self._thread.iterate(self._client.history(symbol, resolution, start, end))

    def symbols(self, search: str | None = None) -> Iterator[dict[str, Any]]:
        """The symbols that the key may use, by compound key. `search` is a part of a display name."""
        return self._thread.iterate(self._client.symbols(search))

    def symbol(self, key: str) -> dict[str, Any]:
        """All fields of one symbol."""
        return self._thread.run(self._client.symbol(key))

    def coverage(self, symbol: str | None = None, *, resolution: str | None = None) -> dict[str, Any]:
        """Where there is data, as ranges `{from, to}` of opens; without `symbol` by symbol. See `AsyncFxd.coverage`."""
        return self._thread.run(self._client.coverage(symbol, resolution=resolution))

    def status(self) -> dict[str, Any]:
        """The platform, and clock and liveness of each feed."""
        return self._thread.run(self._client.status())

    def usage(self, days: int | None = None) -> dict[str, Any]:
        """Limits and counts of the key, of at most 90 days."""
        return self._thread.run(self._client.usage(days))

    def config(self) -> dict[str, Any]:
        """The configuration object of charting libraries."""
        return self._thread.run(self._client.config())

    @property
    def liveness(self) -> dict[str, Verdict]:
        """The verdicts of all iterators."""
        return self._client.liveness

    def close(self) -> None:
        """Closes all iterators and requests. Every later call raises a `RuntimeError`."""
        if not self._thread.ended:
            self._thread.run(self._client.aclose())
            self._thread.stop()

    def __enter__(self) -> Fxd:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _LoopThread:
    """An event loop in a thread that ends with the program."""

    def __init__(self) -> None:
        self.ended = False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="fxd", daemon=True)
        self._thread.start()

    def run(self, task: Coroutine[Any, Any, T]) -> T:
        if self.ended:
            task.close()
            raise RuntimeError(CLOSED)
        try:
            return asyncio.run_coroutine_threadsafe(task, self._loop).result()
        except CancelledError:
            raise RuntimeError(CLOSED) from None

    def iterate(self, items: AsyncIterator[T]) -> Iterator[T]:
        async def following() -> T:
            return await items.__anext__()

        while True:
            try:
                yield self.run(following())
            except StopAsyncIteration:
                return

    def stop(self) -> None:
        # Calls of other threads end, too.
        self.run(_cancel_others())
        self.ended = True
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _cancel_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
