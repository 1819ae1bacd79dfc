"""A complete collector for fxd: it follows a CSV file. docs/collectors.md explains each step.

One line of the file is one closed one-minute bar: SYMBOL,TIME,OPEN,HIGH,LOW,CLOSE,VOLUME. TIME is the open of the
minute in Unix seconds on the feed's clock. The times of a symbol ascend. Lines are appended and never change.

usage: collector.py HOST:PORT[,HOST:PORT…] BROKER:ACCOUNT TOKEN_FILE SYMBOL=DIGITS[,SYMBOL=DIGITS…] BARS.csv
"""

import asyncio
import collections
import decimal
import itertools
import os
import pathlib
import random
import socket
import sys
import time

import grpc
from fxd.v1 import collector_pb2 as pb
from fxd.v1 import collector_pb2_grpc as service

UNACKED_MAX = 8  # messages of history, and windows; below the bounds of ingest (12 BACKFILL batches, 128 windows)
UNACKED_BARS = 20_000  # live bars, for an ingest whose Welcome does not say how many
BARS_MIN = 10  # bars that ingest counts for a message, however few it has
LINES_MAX = 2_000  # bars in one message; the protocol allows 5,000 bars and 256 KiB
WEEKS_MAX = 32  # weeks of one-minute bars in one message
COLUMNS = ("time", "open", "high", "low", "close", "volume", "revision")


class Collector:
    def __init__(self, addresses, feed, token_file, symbols, bars):
        self.addresses, self.feed, self.token_file, self.bars = addresses, feed, token_file, open(bars)
        self.digits = dict(each.split("=") for each in symbols.split(","))
        self.waiting = collections.deque()  # messages of bars, each with its windows; survives a lost connection
        self.claims = collections.deque()  # windows whose bars were acknowledged
        self.sent = {}  # by sequence: messages without an Ack, oldest first
        self.claimed = {}  # by symbol: the end of the newest window
        self.lane, self.stored, self.revision = pb.LANE_BACKFILL, None, 0
        self.paused_until = 0  # no history before this time, as Slow says

    async def run(self):
        failures = 0
        for address in itertools.cycle(self.addresses):
            try:
                async with grpc.aio.insecure_channel(address, options=[
                    ("grpc.keepalive_time_ms", 5_000), ("grpc.keepalive_timeout_ms", 5_000),
                ]) as channel:
                    token = pathlib.Path(self.token_file).read_text().strip()
                    call = service.CollectorStub(channel).Session(metadata=[("authorization", f"Bearer {token}")])
                    await self.greet(call)
                    failures = 0
                    await first_failure(self.receive(call), self.send(call), self.beat(call))
            except (grpc.aio.AioRpcError, asyncio.InvalidStateError, ConnectionError) as error:
                print(f"session lost: {error.details() if isinstance(error, grpc.RpcError) else error}", file=sys.stderr)
                if isinstance(error, grpc.RpcError) and error.code() == grpc.StatusCode.INVALID_ARGUMENT:
                    raise  # a defect of this program: the next try would fail as well
            failures = min(failures + 1, 6)
            await asyncio.sleep(random.uniform(0, 0.25 * 2**failures))

    async def greet(self, call):
        """Hello, Welcome, Known, Catalogue, Catalogued. Then bars may be sent."""
        await call.write(pb.CollectorMessage(hello=pb.Hello(
            feed=self.feed, collector_id=f"{socket.gethostname()}-{os.getpid()}", terminal="csv",
            mode=pb.SESSION_MODE_LIVE, capabilities=[pb.CAPABILITY_REREADABLE])))
        while not (welcome := (await answer(call)).welcome).active:
            print("another collector is active; this one stands by", file=sys.stderr)
        self.unacked_bars = welcome.unacked_bars_max or UNACKED_BARS
        self.clock_offset_ms = welcome.utc_ms - time.time_ns() // 1_000_000
        known = []
        while not known or not known[-1].last:
            known.append((await answer(call)).known)
        if self.stored is None:
            self.stored = [(each.symbol, begin, end) for part in known for each in part.series
                           if each.resolution == "1" for begin, end in pairs(each.windows)]
        symbols = [pb.CatalogueSymbol(raw=raw, digits=int(digits)) for raw, digits in self.digits.items()]
        await call.write(pb.CollectorMessage(
            catalogue=pb.Catalogue(revision=1, snapshot=True, last=True, symbols=symbols)))
        self.names = {}
        while True:
            part = (await answer(call)).catalogued
            self.names.update({name.raw: (name.symbol, name.digits + welcome.mid_quoted) for name in part.names})
            for refusal in part.refused:
                print(f"symbol rejected: {refusal.raw}: {refusal.reason}", file=sys.stderr)
            if part.last:
                break
        for message, windows in reversed(self.sent.values()):
            (self.waiting if message.HasField("bars") else self.claims).appendleft((message, windows))
        self.lower_revisions()
        self.sent, self.writing = {}, asyncio.Lock()

    def lower_revisions(self):
        """Ingest stores no bar whose revision is ahead of its clock, as after a clock was set."""
        now = time.time_ns() // 1_000_000 + self.clock_offset_ms
        self.revision = min(self.revision, now)
        for message, _ in self.waiting:
            for series in message.bars.series:
                series.revision[0] = min(series.revision[0], now)  # the others are differences of 0

    async def write(self, call, message):
        async with self.writing:  # gRPC takes one write of a stream at a time
            await call.write(message)

    async def receive(self, call):
        while True:
            message = await answer(call)
            for bar in message.refused.bars:
                print(f"{bar.count} bars rejected: {bar.message}", file=sys.stderr)
                if bar.reason in (pb.REFUSAL_REASON_SEQUENCE, pb.REFUSAL_REASON_NOT_CATALOGUED):
                    raise ConnectionError("no Ack follows; a new session begins with sequence 1")
                if bar.reason == pb.REFUSAL_REASON_REVISION:
                    raise ConnectionError("a clock was set; a new session has the time of ingest and sends these bars again")
            if message.HasField("slow"):
                self.paused_until = time.monotonic() + message.slow.pause_ms / 1_000
            if message.HasField("ack"):
                acked, windows = self.sent.pop(message.ack.sequence)
                self.claims.extend((window, []) for window in windows)
                if acked.HasField("bars"):
                    print(f"acknowledged: {message.ack.accepted} new bars", flush=True)

    async def send(self, call):
        """Sends what waits: bars in order, and each window once its bars are acknowledged."""
        for sequence in itertools.count(1):
            while not (queue := self.ready()):
                # The pause of 0 s lets answers and heartbeats pass.
                await asyncio.sleep(0 if not self.waiting and self.read() else 0.2)
            message, windows = queue.popleft()
            getattr(message, message.WhichOneof("message")).sequence = sequence
            self.sent[sequence] = (message, windows)
            await self.write(call, message)

    def ready(self):
        """The queue whose first message may be sent now. Live bars go on while Acks wait for the store."""
        live = [bars_in(each) for each, _ in self.sent.values() if each.bars.lane == pb.LANE_LIVE]
        if self.claims and len(self.sent) - len(live) < UNACKED_MAX:
            return self.claims
        if self.waiting and self.waiting[0][0].bars.lane == pb.LANE_LIVE:
            return self.waiting if sum(live) + bars_in(self.waiting[0][0]) <= self.unacked_bars else None
        return self.waiting if len(self.sent) < UNACKED_MAX and time.monotonic() > self.paused_until else None

    async def beat(self, call):
        while True:
            await self.write(call, pb.CollectorMessage(heartbeat=pb.Heartbeat(terminal_connected=True)))
            await asyncio.sleep(5)

    def read(self):
        """Puts the next lines of the file behind what waits: a message of bars, then a window for each symbol."""
        series, weeks = collections.defaultdict(list), set()
        self.revision = max(self.revision + 1, time.time_ns() // 1_000_000 + self.clock_offset_ms)
        for _ in range(LINES_MAX):
            start, line = self.bars.tell(), self.bars.readline()
            if not line.endswith("\n"):  # the end of the file, or a line that is still being written
                self.bars.seek(start)
                break
            raw, opened, *prices, volume = line.strip().split(",")
            weeks.add((int(opened) - 4 * 86_400) // (7 * 86_400))  # weeks begin on Mondays
            if len(weeks) > WEEKS_MAX:
                self.bars.seek(start)
                break
            if raw in self.names:
                scale = self.names[raw][1]
                units = [int(decimal.Decimal(price).scaleb(scale)) for price in prices]
                series[raw].append([int(opened), *units, int(volume), self.revision])
        bars, windows = [], []
        for raw, rows in series.items():
            symbol, scale = self.names[raw]
            span = (self.claimed.get(raw, rows[0][0]), rows[-1][0] + 60)
            self.claimed[raw] = span[1]
            if any(name == symbol and begin <= span[0] and span[1] <= end for name, begin, end in self.stored):
                continue  # ingest has all of it
            columns = {name: deltas(column) for name, column in zip(COLUMNS, zip(*rows))}
            bars.append(pb.SeriesBars(symbol=symbol, resolution="1", scale=scale, **columns))
            windows.append(pb.Window(symbol=symbol, resolution="1", **{"from": span[0], "to": span[1]}))
        if bars:
            message = pb.CollectorMessage(bars=pb.Bars(lane=self.lane, series=bars))
            self.waiting.append((message, [pb.CollectorMessage(window=window) for window in windows]))
        if not series and self.lane == pb.LANE_BACKFILL:
            self.lane = pb.LANE_LIVE  # the file's first end was reached: what comes now is pushed to sockets
            print("history is sent; following live bars", flush=True)
        return bool(series)


async def answer(call):
    message = await call.read()
    if message is grpc.aio.EOF:
        raise ConnectionError("ingest ended the session")
    return message


async def first_failure(*coroutines):
    tasks = [asyncio.create_task(each) for each in coroutines]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()


def bars_in(message):
    return max(BARS_MIN, sum(len(series.time) for series in message.bars.series))


def deltas(values):
    return [values[0], *(after - before for before, after in zip(values, values[1:]))]


def pairs(windows):
    times = list(itertools.accumulate(windows))
    return list(zip(times[::2], times[1::2]))


if len(sys.argv) != 6:
    sys.exit(__doc__)
asyncio.run(Collector(sys.argv[1].split(","), *sys.argv[2:]).run())
