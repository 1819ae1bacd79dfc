"""Whether the feeds are alive: judged by what the service says and by complete minutes, never by a timeout on bars."""

from __future__ import annotations

from typing import Any, Literal

Verdict = Literal["live", "quiet", "dead", "unknown"]
#: Whenever it begins, a whole minute of the clock is in this time, in seconds.
QUIET_AFTER = 120


class _Seen:
    def __init__(self) -> None:
        self.status = ""
        self.source = ""
        #: Whether a bar came since the last complete minute, and in that minute.
        self.now = self.before = False
        #: Nothing traded for minutes when the service was asked last.
        self.idle = False


class Liveness:
    def __init__(self) -> None:
        self._feeds: dict[str, _Seen] = {}

    def status(self, feed: str, fields: dict[str, Any]) -> None:
        """Takes a feed of `/v1/status`, or a `feed` frame."""
        seen = self._of(feed)
        seen.status, seen.source = fields["status"], fields["liveness_source"]
        age = fields.get("last_candle_age_seconds")
        if age is not None:
            seen.idle = age > QUIET_AFTER

    def bar(self, feed: str) -> None:
        self._of(feed).now = True

    def minute(self, feed: str) -> None:
        seen = self._of(feed)
        seen.before, seen.now = seen.now, False

    def verdicts(self, reading: bool, sound: bool, age: float) -> dict[str, Verdict]:
        """`reading`: the program reads, and a socket was open. `sound`: the socket is open and answers pings.

        `age`: seconds since the first socket opened.
        """

        def judge(seen: _Seen) -> Verdict:
            if not reading or seen.source != "heartbeat":
                return "unknown"
            if not sound or seen.status != "live":
                return "dead"
            if seen.now or seen.before:
                return "live"
            return "quiet" if age >= QUIET_AFTER or seen.idle else "unknown"

        return {feed: judge(seen) for feed, seen in self._feeds.items()}

    def _of(self, feed: str) -> _Seen:
        return self._feeds.setdefault(feed, _Seen())
