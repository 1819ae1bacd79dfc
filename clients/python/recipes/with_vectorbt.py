"""A crossing of averages, tested by vectorbt. usage: with_vectorbt.py URL SYMBOL, with FXD_API_KEY set."""

import sys

import vectorbt as vbt

from fxd import Fxd
from fxd.frames import pandas_history

url, symbol = sys.argv[1:]
with Fxd(url) as client:
    close = pandas_history(client, symbol)["close"]

fast, slow = vbt.MA.run(close, 5), vbt.MA.run(close, 20)
portfolio = vbt.Portfolio.from_signals(
    close, fast.ma_crossed_above(slow), fast.ma_crossed_below(slow), freq="1min", init_cash=10_000
)
print(f"bars: {len(close)}, trades: {portfolio.trades.count()}, value: {portfolio.final_value():.5f}")
