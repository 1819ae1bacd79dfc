"""One symbol that is followed: what of it was given, and from where its next bars come."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from .items import Bar, Gap, Item


class State(Enum):
    #: Must be subscribed, with the time `last`.
    IDLE = 0
    #: Its subscription was sent. Bars that come before the answer belong to an earlier subscription.
    JOINING = 1
    #: Bars of the socket are given.
    LIVE = 2
    #: Longer behind than the service replays: history is read up to `target`, and the symbol is not subscribed.
    BEHIND = 3
    #: After a GAP: bars of the socket are dropped until history has what the GAP names.
    HOLDING = 4


class Series:
    __slots__ = (
        "key", "last", "state", "subscribed", "accepted", "target", "doubt", "held", "until", "due", "tries",
        "deadline", "reading", "growth", "fresh", "skipped",
    )  # fmt: skip

    def __init__(self, key: str, last: int | None) -> None:
        self.key = key
        #: Every bar up to this time was given, or does not exist, or was named in a Gap. None: begins with the next bar.
        self.last = last
        self.state = State.IDLE
        self.subscribed = False
        #: Whether the service ever accepted it.
        self.accepted = False
        self.target = 0
        #: A GAP is not resolved.
        self.doubt = False
        #: Open of the first bar that was dropped since the GAP.
        self.held: int | None = None
        self.until: int | None = None
        #: HOLDING: when history is read next; None: once a live bar comes.
        #: IDLE: when it is subscribed; None: now.
        self.due: float | None = None
        self.tries = 0
        self.deadline: float | None = None
        self.reading = False
        self.growth = 1
        #: Neither a bar nor a complete minute came on the present socket.
        self.fresh = True
        #: The last minutes that were passed over though nothing said that they had no bar, as first and last open.
        self.skipped = (0, -1)

    def skip(self, to: int, complete: int) -> None:
        """Passes over the minutes before `to`. From `complete` on those without a bar had no trade."""
        if self.last is None:
            return
        start, end = next_minute(self.last), min(to, complete) - 60
        if start <= end:
            self.skipped = (self.skipped[0] if start == self.skipped[1] + 60 else start, end)

    def waits(self, now: float) -> bool:
        """Whether it was rejected, and is not asked for yet."""
        return self.state is State.IDLE and self.due is not None and self.due > now

    def hold(self, until: int | None, now: float) -> None:
        self.until = until if self.until is None or until is None else max(self.until, until)
        self.state, self.doubt, self.due = State.HOLDING, True, now
        self.tries, self.deadline = 0, None

    def resolve(self) -> None:
        """The socket continues after `last`: what it sent since the GAP was dropped, so the symbol is subscribed again."""
        self.state = State.LIVE if self.held is None and self.state is State.HOLDING else State.IDLE
        self.doubt, self.held, self.until, self.due, self.deadline = False, None, None, None, None

    def give(self, bars: Sequence[Bar]) -> list[Bar]:
        """The bars that were not given yet."""
        last = self.last
        fresh = [bar for bar in bars if last is None or bar.time > last]
        if fresh:
            self.last = bars[-1].time
        return fresh


def without_hole(last: int | None, bars: Sequence[Bar]) -> int:
    """How many of the bars follow `last` minute by minute."""
    expected = None if last is None else next_minute(last)
    for count, bar in enumerate(bars):
        if expected is not None and bar.time != expected:
            return count
        expected = bar.time + 60
    return len(bars)


def holes(ranges: Sequence[dict[str, int]], last: int, to: int) -> list[tuple[int, int]]:
    """The minutes after `last` and before `to` that no range of `/v1/coverage` has, as first and last open."""
    found = []
    at = next_minute(last)
    for index, each in enumerate(ranges):
        if each["to"] < at:
            continue
        end = min(each["from"], to)
        # Before the first range there is nothing that history could show.
        if end > at and index > 0:
            found.append((at, end - 60))
        at = each["to"] + 60
        if at >= to:
            break
    if at < to:
        found.append((at, to - 60))
    return found


def with_gaps(key: str, bars: Sequence[Bar], missing: Sequence[tuple[int, int]]) -> list[Item]:
    """Bars and gaps in the order of their times."""
    gaps = [Gap(key, start, end, "unfilled") for start, end in missing]
    timed: list[tuple[int, Item]] = [*((bar.time, bar) for bar in bars), *((gap.start, gap) for gap in gaps)]
    return [item for _, item in sorted(timed, key=lambda each: each[0])]


def next_minute(time: int) -> int:
    return time // 60 * 60 + 60
