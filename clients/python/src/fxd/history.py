"""Bars of any range from `/v1/history`, in pages of bounded size."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from .http import PATIENCE, Http
from .items import Bar

#: Bars that one page may have.
PAGE_BARS = 10_000
_GROWTH = 4

_MINUTES = {"1": 1, "5": 5, "10": 10, "15": 15, "30": 30, "60": 60, "120": 120, "240": 240}
_MINUTES |= {"1D": 1_440, "1W": 10_080, "1M": 43_200}


def to_bars(symbol: str, answer: dict[str, Any]) -> list[Bar]:
    """The bars of an answer, oldest first; none for `no_data`."""
    if answer["s"] != "ok":
        return []
    columns = (answer[name] for name in "tohlcv")
    return [Bar(symbol, *row) for row in zip(*columns)]


async def read(http: Http, symbol: str, resolution: str, start: int, end: int, patience: float) -> list[Bar]:
    """All bars that open from `start` to `end`, both included. The caller bounds the range."""
    query = {"symbol": symbol, "resolution": resolution, "from": start, "to": end}
    return to_bars(symbol, await http.get("/v1/history", query, patience))


async def read_page(
    http: Http, symbol: str, resolution: str, start: int, end: int, growth: int, patience: float
) -> list[Bar] | None:
    """The same for a range of `growth` pages. None: a longer one than a page has bars."""
    if growth == 1:
        return await read(http, symbol, resolution, start, end, patience)
    newest = await _newest(http, symbol, resolution, end, patience)
    return [] if newest is None or newest < start else None


def next_growth(growth: int, bars: list[Bar] | None) -> int:
    """Of how many pages the next range is: times without bars are crossed in few requests."""
    if bars is None:
        return growth // _GROWTH
    return 1 if bars else growth * _GROWTH


async def _newest(http: Http, symbol: str, resolution: str, end: int | None, patience: float) -> int | None:
    """Time of the newest bar up to `end`."""
    query = {"symbol": symbol, "resolution": resolution, "to": end, "countback": 1}
    bars = to_bars(symbol, await http.get("/v1/history", query, patience))
    return bars[-1].time if bars else None


async def pages(
    http: Http, symbol: str, resolution: str, start: int, end: int | None
) -> AsyncIterator[list[Bar]]:
    """Lists of bars from `start` to `end` (absent: the newest bar), ascending, none of them empty."""
    if resolution not in _MINUTES:
        raise ValueError(f"resolution is {resolution!r}; it must be one of {', '.join(_MINUTES)}.")
    if end is None:
        newest = await _newest(http, symbol, resolution, None, PATIENCE)
        end = -1 if newest is None else newest
    span, growth = PAGE_BARS * _MINUTES[resolution] * 60, 1
    while start <= end:
        to = min(end, start + span * growth - 1)
        bars = await read_page(http, symbol, resolution, start, to, growth, PATIENCE)
        growth = next_growth(growth, bars)
        if bars is not None:
            start = to + 1
        if bars:
            yield bars
