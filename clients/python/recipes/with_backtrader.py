"""A crossing of averages, tested by backtrader. usage: with_backtrader.py URL SYMBOL, with FXD_API_KEY set."""

import sys

import backtrader as bt

from fxd import Fxd
from fxd.frames import pandas_history


class Crossing(bt.SignalStrategy):
    def __init__(self) -> None:
        fast, slow = bt.ind.SMA(period=5), bt.ind.SMA(period=20)
        self.signal_add(bt.SIGNAL_LONG, bt.ind.CrossOver(fast, slow))


url, symbol = sys.argv[1:]
with Fxd(url) as client:
    frame = pandas_history(client, symbol)
engine = bt.Cerebro()
engine.addstrategy(Crossing)
engine.adddata(bt.feeds.PandasData(dataname=frame, timeframe=bt.TimeFrame.Minutes))
engine.run()
print(f"bars: {len(frame)}, value: {engine.broker.getvalue():.5f}")
