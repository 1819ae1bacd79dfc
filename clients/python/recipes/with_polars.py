"""Ten-minute bars and their returns, with polars. usage: with_polars.py URL SYMBOL, with FXD_API_KEY set."""

import sys

import polars as pl

from fxd import Fxd
from fxd.frames import polars_history

url, symbol = sys.argv[1:]
with Fxd(url) as client:
    frame = polars_history(client, symbol)

ten = frame.group_by_dynamic("time", every="10m").agg(
    pl.first("open"), pl.max("high"), pl.min("low"), pl.last("close"), pl.sum("volume")
)
print(ten.with_columns(pl.col("close").pct_change().alias("return")).write_csv())
