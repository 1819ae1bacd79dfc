"""Follows bars with the client of clients/python, for tests. It prints each item as a line of JSON.

usage: follow.py OPTIONS, a JSON object: url, key (or key_file), symbols; perhaps face, start, after, revisions, buffer, count, and
pause: after so many items nothing is read until a line comes on stdin. Each line there is a JSON object; {} asks for position and
liveness. With "reads": false nothing is read until the next line; "clock" sets the clock so many seconds forward.
"""

import asyncio
import json
import logging
import sys
import threading
import time
from contextlib import aclosing
from pathlib import Path

from fxd import AsyncFxd, Fxd, FxdError, Item

options = json.loads(sys.argv[1])
wanted = {name: options[name] for name in ("start", "after", "revisions") if name in options}
count = options.get("count")
reading = threading.Event()
reading.set()
real_time = time.time


class Lines(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        show({"log": record.getMessage(), "level": record.levelname})


def show(line: dict) -> None:
    # Threads print, too, and a line and its end must not be apart.
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def show_item(item: Item) -> None:
    show({"type": item.type, **item._asdict()})


def answer_lines(bars) -> None:
    def answer() -> None:
        for line in sys.stdin:
            wish = json.loads(line)
            if not wish:
                show({"position": bars.position, "liveness": bars.liveness})
            if "clock" in wish:
                time.time = lambda by=wish["clock"]: real_time() + by
            if wish.get("reads", True):
                reading.set()
            else:
                reading.clear()

    threading.Thread(target=answer, daemon=True).start()


def read_key() -> str:
    return Path(options["key_file"]).read_text()


def client_options() -> dict:
    logger = logging.getLogger("test")
    logger.setLevel(logging.INFO)
    logger.addHandler(Lines())
    more = {name: options[name] for name in ("buffer",) if name in options}
    return {"url": options["url"], "key": read_key if "key_file" in options else options["key"], "logger": logger, **more}


def sync() -> None:
    with Fxd(**client_options()) as fxd:
        bars = fxd.bars(options["symbols"], **wanted)
        answer_lines(bars)
        for at, item in enumerate(bars, 1):
            show_item(item)
            if at == options.get("pause"):
                reading.clear()
            reading.wait()
            if at == count:
                break
        show({"position": bars.position})


async def asynchronous() -> None:
    async with AsyncFxd(**client_options()) as fxd, aclosing(fxd.bars(options["symbols"], **wanted)) as bars:
        answer_lines(bars)
        at = 0
        async for item in bars:
            at += 1
            show_item(item)
            if at == options.get("pause"):
                reading.clear()
            if not reading.is_set():
                await asyncio.to_thread(reading.wait)
            if at == count:
                break
        show({"position": bars.position})


try:
    if options.get("face") == "async":
        asyncio.run(asynchronous())
    else:
        sync()
except FxdError as error:
    show({"failed": error.code, "status": error.status, "close": error.close_code, "message": error.message})
