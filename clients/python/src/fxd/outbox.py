"""What waits for the reader of an iterator."""

from __future__ import annotations

import asyncio
from collections import deque

from .items import Item

#: About how many items the reader takes at once.
_TAKE = 1_000


class Outbox:
    """Items that wait for the reader, at most `limit` and one frame or page more."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._batches: deque[list[Item]] = deque()
        self._count = 0
        self._changed = asyncio.Event()
        self._drained = asyncio.Event()
        self._drained.set()
        self._end: BaseException | None = None

    @property
    def full(self) -> bool:
        return self._count >= self._limit

    def put(self, items: list[Item]) -> None:
        if items and self._end is None:
            self._batches.append(items)
            self._count += len(items)
            self._changed.set()
            self._drained.clear()

    @property
    def ended(self) -> bool:
        return self._end is not None

    def end(self, error: BaseException) -> None:
        """No item follows. The reader gets those that wait, and then this."""
        self._end = self._end or error
        self._changed.set()

    def close(self, error: BaseException) -> None:
        """The same, but what waits is dropped."""
        self._batches.clear()
        self._count = 0
        self._end = error
        self._changed.set()

    async def drained(self) -> None:
        await self._drained.wait()

    async def take(self) -> list[Item]:
        """The next items, not empty. Raises what ended the stream once all items were taken."""
        while not self._batches:
            self._drained.set()
            if self._end is not None:
                raise self._end
            self._changed.clear()
            await self._changed.wait()
        items: list[Item] = []
        while self._batches and len(items) < _TAKE:
            items += self._batches.popleft()
        self._count -= len(items)
        return items
