"""Asks each endpoint by both faces of clients/python. It prints the answers and an error of each as a line of JSON.

usage: endpoints.py URL KEY SYMBOL
"""

import asyncio
import json
import sys

from fxd import AsyncFxd, Fxd, FxdError, to_utc

url, key, symbol = sys.argv[1:]


def show(answers: list) -> None:
    print(json.dumps({"answers": answers}), flush=True)


def sync() -> None:
    with Fxd(url, key) as fxd:
        symbols = [each["symbol"] for each in fxd.symbols("btc")]
        answers = [symbols, fxd.symbol(symbol), fxd.coverage(symbol), fxd.config(), fxd.usage(1)["limits"]]
        answers += [fxd.coverage(symbol, resolution=each) for each in ("1", "5")]
        offset = fxd.status()["feeds"][symbol.rsplit(":", 1)[0]]["clock_offset_seconds"]
        bars = [to_utc(bar.time, offset) for bar in fxd.history(symbol, "60", end=1_383_350_400)]
        try:
            fxd.symbol("NO:SUCH:SYMBOL")
        except FxdError as error:
            show([*answers, bars, error.code, error.status])


async def asynchronous() -> None:
    async with AsyncFxd(url, lambda: key) as fxd:
        symbols = [each["symbol"] async for each in fxd.symbols("btc")]
        answers = [symbols, await fxd.symbol(symbol), await fxd.coverage(symbol), await fxd.config()]
        answers.append((await fxd.usage(1))["limits"])
        answers += [await fxd.coverage(symbol, resolution=each) for each in ("1", "5")]
        offset = (await fxd.status())["feeds"][symbol.rsplit(":", 1)[0]]["clock_offset_seconds"]
        bars = [to_utc(bar.time, offset) async for bar in fxd.history(symbol, "60", end=1_383_350_400)]
        try:
            await fxd.symbol("NO:SUCH:SYMBOL")
        except FxdError as error:
            show([*answers, bars, error.code, error.status])


sync()
asyncio.run(asynchronous())
