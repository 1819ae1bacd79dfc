"""Ten-minute bars and their returns, with pandas. usage: with_pandas.py URL SYMBOL, with FXD_API_KEY set."""

import sys

from fxd import Fxd
from fxd.frames import pandas_history

url, symbol = sys.argv[1:]
with Fxd(url) as client:
    frame = pandas_history(client, symbol)

rules = {"open": "first", "high": "max", "low": "min", "close": "last", "volume": "sum"}
ten = frame.resample("10min").agg(rules).dropna()
ten["return"] = ten["close"].pct_change()
print(ten.to_string())
