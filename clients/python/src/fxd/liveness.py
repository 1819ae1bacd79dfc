"""Whether the feeds are alive. It is never decided by the absence of bars alone."""

from __future__ import annotations

from typing import Any, Literal

Verdict = Literal["live", "quiet", "dead", "unknown"]

#: A feed with heartbeats completes each minute, also one without a trade.
_MINUTE_LATE = 150.0
#: A bar that came within this time makes a feed live.
_BAR_FRESH = 120.0
#: The service answers pings, which are sent each 20 s.
HEARD_LATE = 60.0


class Liveness:
    """Collects what the service says of feeds. Times are seconds of a monotonic clock."""

    def __init__(self) -> None:
        self._status: dict[str, str] = {}
        self._source: dict[str, str] = {}
        self._minute: dict[str, float] = {}
        self._bar: dict[str, float] = {}
        #: When the last frame came; None: the client does not read now, so nothing can be judged.
        self.heard: float | None = None

    def opened(self, feeds: list[str], now: float) -> None:
        self.heard = now
        for feed in feeds:
            self._minute[feed] = now

    def status(self, feed: str, fields: dict[str, Any]) -> None:
        """Takes a feed of `/v1/status`, or a `feed` frame."""
        self._status[feed] = fields["status"]
        self._source[feed] = fields["liveness_source"]

    def bar(self, feed: str, now: float) -> None:
        self._bar[feed] = now

    def minute(self, feed: str, now: float) -> None:
        self._minute[feed] = now

    def verdict(self, feed: str, now: float) -> Verdict:
        """`dead`: pings are not answered, or minutes or heartbeats do not come. `quiet`: alive, without trades."""
        if self._source.get(feed) != "heartbeat" or self.heard is None or feed not in self._minute:
            return "unknown"
        if now - self.heard > HEARD_LATE or self._status[feed] != "live":
            return "dead"
        if now - self._minute[feed] > _MINUTE_LATE:
            return "dead"
        return "live" if now - self._bar.get(feed, -_BAR_FRESH) < _BAR_FRESH else "quiet"

    def verdicts(self, now: float) -> dict[str, Verdict]:
        return {feed: self.verdict(feed, now) for feed in self._minute}
