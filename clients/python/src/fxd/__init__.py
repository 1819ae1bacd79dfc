"""Bars of fxd, from years ago into the present: each bar once, in order. README.md has examples."""

from .client import AsyncFxd
from .items import Bar, FxdError, Gap, Item, Revised, to_utc
from .sync import Fxd

__all__ = ["AsyncFxd", "Bar", "Fxd", "FxdError", "Gap", "Item", "Revised", "to_utc"]
