"""History as a frame of pandas or polars: `pip install 'fxd[pandas]'` or `'fxd[polars]'`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .client import Time
from .sync import Fxd

if TYPE_CHECKING:
    import pandas
    import polars

_COLUMNS = ("time", "open", "high", "low", "close", "volume")


def _columns(client: Fxd, symbol: str, resolution: str, start: Time, end: Time | None) -> dict[str, list[float]]:
    bars = list(client.history(symbol, resolution, start, end))
    return {name: [getattr(bar, name) for bar in bars] for name in _COLUMNS}


def pandas_history(
    client: Fxd, symbol: str, resolution: str = "1", start: Time = 0, end: Time | None = None
) -> pandas.DataFrame:
    """Bars indexed by `time`, the open on the feed's clock, without a zone."""
    import pandas

    frame = pandas.DataFrame(_columns(client, symbol, resolution, start, end))
    frame["time"] = pandas.to_datetime(frame["time"], unit="s")
    return frame.set_index("time")


def polars_history(
    client: Fxd, symbol: str, resolution: str = "1", start: Time = 0, end: Time | None = None
) -> polars.DataFrame:
    """Bars with the column `time`, the open on the feed's clock, without a zone."""
    import polars

    frame = polars.DataFrame(_columns(client, symbol, resolution, start, end))
    return frame.with_columns(polars.from_epoch("time", time_unit="s"))
