"""The rules by which no bar is missed: a machine without I/O, fed with frames and answers.

Frames of the socket go into `frame`, bars of history into `behind` and `held`. What must be sent comes from
`messages`, what must be read from `next_job`. `now` is in seconds of a monotonic clock.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from logging import Logger
from typing import Any, NamedTuple

from .history import PAGE_BARS, next_growth
from .items import TIME_MAX, Bar, FxdError, Gap, Item, Revised
from .liveness import Liveness
from .series import Series, State, holes, with_gaps, without_hole

#: Seconds that a GAP may wait for history.
UNFILLED_AFTER = 120.0
#: The service replays a day; what is older is read from history.
_REPLAY = 86_400
#: Symbols of one message; 64 KiB are allowed.
_MESSAGE_SYMBOLS = 400
_REJECTED_AGAIN = 60.0
#: A bar of a delayed symbol comes later than the `minute` frame of its minute, by less than this.
_DELAY_MAX = 3_600
_PAGE = PAGE_BARS * 60


class Job(NamedTuple):
    """A range of history that must be read for a symbol, one-minute bars, both ends included."""

    series: Series
    start: int
    end: int
    #: Of a symbol that is behind, else of one that is held.
    behind: bool
    #: How many pages long the range is.
    growth: int = 1


def feed_of(symbol: str) -> str:
    return ":".join(symbol.split(":", 2)[:2])


class Follow:
    def __init__(
        self,
        wanted: Sequence[str],
        start: int | None,
        position: Mapping[str, int],
        revisions: bool,
        logger: Logger,
    ) -> None:
        self.series: dict[str, Series] = {}
        self.liveness = Liveness()
        #: Whether `messages` or `next_job` may have something new.
        self.dirty = True
        #: Code and message of the `error` frame that precedes a close.
        self.refusal: tuple[str, str] | None = None
        self._by_feed: dict[str, dict[str, Series]] = {}
        #: By feed: the last minutes that were complete one after another, as first and last open.
        self._complete: dict[str, tuple[int, int]] = {}
        #: Feeds of which a symbol or all symbols are wanted.
        self.feeds = {feed_of(name) for name in wanted}
        self._whole = [name for name in wanted if name in self.feeds]
        self._whole_sent = True
        self._start = start
        #: By symbol, of those that come later, too: the time of the last bar that the program got.
        self._position = position
        self._revisions = revisions
        self._logger = logger

    def add(self, key: str, last: int | None) -> Series:
        """Follows a symbol from behind `last`; None: from its next bar."""
        series = self.series[key] = Series(key, last)
        self._by_feed.setdefault(feed_of(key), {})[key.split(":", 2)[2]] = series
        self.dirty = True
        return series

    def opened(self, present: Mapping[str, int]) -> None:
        """A new socket is open. `present` has the time on the clock of each feed whose clock is known."""
        self.refusal, self.dirty = None, True
        self._whole_sent = not self._whole
        for series in self.series.values():
            series.subscribed, series.fresh = False, True
            if series.state is not State.BEHIND:
                series.state, series.due = State.IDLE, None
                oldest = present.get(feed_of(series.key), 0) - _REPLAY
                if series.last is not None and series.last < oldest:
                    self._fall_behind(series, oldest)

    def clock_set_back(self, feed: str, by: int) -> list[Item]:
        """The broker repeats `by` seconds."""
        return [
            Gap(series.key, max(0, series.last - by + 60), series.last, "clock")
            for series in self._by_feed.get(feed, {}).values()
            if series.last is not None and series.state is not State.BEHIND
        ]

    # Frames

    def frame(self, data: str | bytes, now: float) -> list[Item]:
        message = json.loads(data)
        kind = message["type"]
        if kind == "bars":
            return self._bars(message["feed"], message["time"], message["bars"], now)
        if kind == "bar":
            key, bar = message["symbol"], message["bar"]
            row = [key.split(":", 2)[2], *(bar[name] for name in ("open", "high", "low", "close", "volume"))]
            return self._bars(feed_of(key), bar["time"], [row], now)
        if kind == "minute":
            self._minute(message["feed"], message["time"])
        elif kind == "feed":
            self.liveness.status(message["feed"], message)
        elif kind == "revised":
            return self._revised(message, now)
        elif kind == "subscribed":
            self._subscribed(message, now)
        elif kind == "unsubscribed" and "reason" in message:
            raise FxdError(message["reason"], f"the key lost access to {', '.join(message['symbols'])}.")
        elif kind == "error":
            self._error(message, now)
        return []

    def _bars(self, feed: str, time: int, rows: list[list[Any]], now: float) -> list[Item]:
        names = self._by_feed.get(feed, {})
        items: list[Item] = []
        for name, *prices in rows:
            series = names.get(name)
            if series is None:
                continue
            if series.state is State.LIVE:
                if series.fresh and series.last is not None and time > series.last + 60:
                    # Bars between may still be on their way into history, and are not pushed: as after a GAP.
                    series.fresh, series.held, self.dirty = False, time, True
                    series.hold(None, now)
                elif series.last is None or time > series.last:
                    series.skip(time, self._complete.get(feed, (time, time))[0])
                    series.last, series.fresh = time, False
                    items.append(Bar(series.key, time, *prices))
            elif series.state is State.HOLDING and series.held is None:
                series.held, series.due, self.dirty = time, now, True
        self.liveness.bar(feed)
        return items

    def _revised(self, message: dict[str, Any], now: float) -> list[Item]:
        series = self.series.get(message["symbol"])
        if series is not None and series.state is State.LIVE and message["resolution"] == "1":
            if series.last is not None and message["to"] > series.last:
                # History has bars that will not be pushed, such as those of a collector that was away.
                series.hold(message["to"], now)
                self.dirty = True
        items: list[Item] = []
        if series is not None and message["resolution"] == "1":
            start, end = max(message["from"], series.skipped[0]), min(message["to"], series.skipped[1])
            if start <= end:
                # Later bars were given, and bars stay in order.
                items.append(Gap(series.key, start, end, "unfilled"))
        if self._revisions:
            items.append(Revised(message["symbol"], message["resolution"], message["from"], message["to"]))
        return items

    def _minute(self, feed: str, time: int) -> None:
        self.liveness.minute(feed)
        first, last = self._complete.get(feed, (time, time))
        first = first if time <= last + 60 else time
        self._complete[feed] = (first, time)
        for series in self._by_feed.get(feed, {}).values():
            if series.state is State.LIVE:
                # A quiet market is no hole. History that comes later is named in a `revised` frame.
                series.fresh = False
                # Without this, each symbol that was quiet for a day would be read from history after a reconnect.
                if time - _DELAY_MAX > (series.last or 0):
                    series.skip(time - _DELAY_MAX + 60, first)
                    series.last = time - _DELAY_MAX

    def _subscribed(self, message: dict[str, Any], now: float) -> None:
        self.dirty = True
        begins = message.get("since", {})
        for key in message["symbols"]:
            series = self.series.get(key)
            if series is None:
                # A new symbol of a whole feed.
                begin = None if self._start is None else self._start - 1
                series = self.add(key, self._position.get(key, begin))
                series.subscribed = True
                series.state = State.LIVE if series.last is None else State.IDLE
            elif series.state is State.JOINING:
                self._joined(series, begins.get(key), now)
            elif series.waits(now):
                # A rejected symbol of a whole feed found a place.
                series.subscribed, series.due = True, None
            series.accepted = True
        if message["rejected"]:
            self._rejected(message["rejected"], now)
        for feed in message.get("rejected_feeds", []):
            raise rejection(feed)

    def _joined(self, series: Series, begin: int | None, now: float) -> None:
        series.state = State.LIVE
        if begin is not None and series.last is None:
            series.last = begin
        elif begin is not None and series.last is not None and begin > series.last:
            self._fall_behind(series, begin)
        elif series.doubt:
            series.held = None
            series.hold(series.until, now)

    def _fall_behind(self, series: Series, target: int) -> None:
        # An hour more than the service asks for, so that it is not behind again once history was read.
        series.state, series.target, series.held, series.growth = State.BEHIND, target + 3_600, None, 1

    def _rejected(self, keys: list[str], now: float) -> None:
        self._logger.warning("symbols rejected: first=%s count=%d", keys[0], len(keys))
        for key in keys:
            series = self.series.get(key)
            whole = feed_of(key) in self._whole
            if series is None:
                continue
            if not whole and not series.accepted:
                raise rejection(key)
            # The service lets new symbols of a whole feed join once there is a place.
            series.state, series.subscribed = State.IDLE, False
            series.due = now + _REJECTED_AGAIN if series.accepted else math.inf

    def _error(self, message: dict[str, Any], now: float) -> None:
        if message["code"] in ("BAD_MESSAGE", "UNSUPPORTED_TYPE"):
            raise FxdError(message["code"], f"the service does not support this client: {message['message']}")
        if message["code"] != "GAP":
            self.refusal = (message["code"], message["message"])
            self._logger.warning("error frame: code=%s message=%s", message["code"], message["message"])
            return
        for gap in message["gaps"]:
            series = self.series.get(gap["symbol"])
            if series is None or series.state not in (State.LIVE, State.HOLDING):
                continue
            if series.last is None:
                series.last = gap.get("after")
            until = gap.get("until")
            if series.last is None or (until is not None and until <= series.last):
                continue
            series.hold(until, now)
            self.dirty = True

    # What must be done

    def messages(self, now: float) -> list[dict[str, Any]]:
        """What must be sent now."""
        idle: list[Series] = []
        left: list[str] = []
        complete = True
        for series in self.series.values():
            waits = series.waits(now)
            if series.state is State.IDLE and not waits:
                idle.append(series)
            complete = complete and (series.state in (State.LIVE, State.HOLDING) or waits)
            if series.subscribed and series.state in (State.IDLE, State.BEHIND):
                series.subscribed = False
                left.append(series.key)
        messages: list[dict[str, Any]] = []
        for names in _parts(left):
            messages.append({"action": "unsubscribe", "symbols": names})
        for some in _parts(idle):
            since = {each.key: max(0, each.last) for each in some if each.last is not None}
            messages.append(self._subscribe([each.key for each in some], since=since))
            for each in some:
                each.state, each.subscribed, each.due = State.JOINING, True, None
        if complete and not self._whole_sent:
            self._whole_sent = True
            messages.append(self._subscribe([], feeds=self._whole))
        return messages

    def _subscribe(self, symbols: list[str], **more: object) -> dict[str, Any]:
        fixed: dict[str, Any] = {"action": "subscribe", "type": "bar", "format": "rows", "markers": True}
        fixed["events"] = ["feed", "revised"]
        return {**fixed, "symbols": symbols, **more}

    def next_job(self, now: float) -> Job | None:
        """A range to read now; `behind` or `held` must get its answer."""
        for series in self.series.values():
            if series.reading or series.last is None:
                continue
            if series.state is State.HOLDING and series.held is not None:
                if series.held - series.last > 2 * _REPLAY:
                    self._fall_behind(series, series.held - _REPLAY)
            if series.state is State.BEHIND:
                series.reading = True
                start, growth = series.last + 1, series.growth
                if growth > 1 and series.last < series.target:
                    return Job(series, start, min(series.last + _PAGE * growth, series.target), True, growth)
                page_end = series.last + _PAGE
                # The last page has no end, because the present goes on meanwhile.
                return Job(series, start, page_end if page_end < series.target else TIME_MAX, True)
            if series.state is State.HOLDING and series.due is not None and series.due <= now:
                series.reading = True
                return Job(series, series.last + 1, series.last + _PAGE, False)
        return None

    def behind(self, job: Job, bars: list[Bar] | None) -> list[Item]:
        """`bars` is None if a range that is longer than a page has bars."""
        series = job.series
        series.reading, self.dirty = False, True
        series.growth = next_growth(job.growth, bars)
        if bars is None:
            return []
        items: list[Item] = [*series.give(bars)]
        if job.end == TIME_MAX:
            series.last = max(series.last or 0, series.target)
            series.state, series.doubt, series.until = State.IDLE, False, None
        else:
            series.last = job.end
        return items

    def needs_coverage(self, job: Job, bars: list[Bar]) -> bool:
        """Whether only coverage can say that no minute is missing between the bars of a held symbol."""
        held = job.series.held
        if held is None or not bars or bars[-1].time < held:
            return False
        contiguous = without_hole(job.series.last, bars)
        return contiguous == 0 or bars[contiguous - 1].time < held

    def held(
        self, job: Job, bars: list[Bar], ranges: list[dict[str, int]] | None, now: float
    ) -> list[Item]:
        """`ranges` is the coverage of the symbol, if it was needed."""
        series = job.series
        series.reading, self.dirty = False, True
        if series.state is not State.HOLDING or series.last is None:
            return []  # The socket closed meanwhile.
        items: list[Item] = [*series.give(bars[: without_hole(series.last, bars)])]
        held = series.held
        if held is None:
            series.due = None
            if series.until is not None and series.last >= series.until:
                series.resolve()
            return items
        series.deadline = series.deadline or now + UNFILLED_AFTER
        shown = bool(bars) and bars[-1].time >= held
        missing = None if ranges is None else holes(ranges, series.last, held)
        if shown and (series.last >= held or missing == []):
            items += series.give(bars)
            series.resolve()
        elif now >= series.deadline:
            if missing is None:
                missing = holes([], series.last, held)
            items += with_gaps(series.key, series.give(bars), missing)
            series.last = max(series.last, held - 60)
            series.resolve()
        else:
            series.tries += 1
            series.due = now + min(30.0, 2.0**series.tries)
        return items


def rejection(name: str) -> FxdError:
    return FxdError("SYMBOL_REJECTED", f"{name} is unknown, not granted, or above the symbols of one connection.")


def _parts(items: list[Any]) -> Iterable[list[Any]]:
    return (items[at : at + _MESSAGE_SYMBOLS] for at in range(0, len(items), _MESSAGE_SYMBOLS))
