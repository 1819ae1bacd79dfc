"""What the iterators give, and the error that they raise. Times are epoch seconds on the feed's clock."""

from __future__ import annotations

from datetime import datetime, timezone
from numbers import Real
from typing import Literal, NamedTuple

#: The last time that the service takes, in the year 9999.
TIME_MAX = 253_402_300_799
#: A greater time, of the year 5138 or later, is in milliseconds.
_SECONDS_MAX = 100_000_000_000


class Bar(NamedTuple):
    """A closed bar of one symbol. `time` is its open; `volume` counts ticks."""

    symbol: str
    time: int
    open: float
    high: float
    low: float
    close: float
    volume: int

    @property
    def type(self) -> Literal["bar"]:
        return "bar"


class Gap(NamedTuple):
    """One-minute bars that open from `start` to `end`, both included, may be missing.

    `unfilled`: history did not show them within 2 minutes, or only behind later bars. `clock`: the broker set its clock back, these times
    came twice, and only the first reading was given.
    """

    symbol: str
    start: int
    end: int
    reason: Literal["unfilled", "clock"]

    @property
    def type(self) -> Literal["gap"]:
        return "gap"


class Revised(NamedTuple):
    """The broker corrected bars that open from `start` to `end`: `history` has them. Only with `revisions=True`."""

    symbol: str
    resolution: str
    start: int
    end: int

    @property
    def type(self) -> Literal["revised"]:
        return "revised"


Item = Bar | Gap | Revised


class FxdError(Exception):
    """A refusal or a failure.

    `code` is the service's (`KEY_INACTIVE`, `SYMBOL_NOT_FOUND`, …), `REDIRECTED` or `CLOSED`. It is `UNAVAILABLE` if the
    service did not answer, and `SYMBOL_REJECTED` if a subscription was not accepted. `status` is that of HTTP.
    `close_code` and `close_reason` are those of the WebSocket. `retry_after` is in seconds.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        close_code: int | None = None,
        close_reason: str | None = None,
    ) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.status = status
        self.retry_after = retry_after
        self.close_code = close_code
        self.close_reason = close_reason

    @property
    def may_pass(self) -> bool:
        """Whether a later try may succeed. A failure without a code of the service came from a proxy."""
        status = self.status or 0
        return self.code == "UNAVAILABLE" or status == 429 or status >= 500


def to_utc(time: int, clock_offset_seconds: int) -> int:
    """The UTC time, in epoch seconds, of a bar. `clock_offset_seconds` is the feed's, from `status()`."""
    return time + clock_offset_seconds


def seconds(name: str, time: int | float | datetime) -> int:
    """Epoch seconds of the argument `name`, a time on the feed's clock. Raises `ValueError` for any other value."""
    if isinstance(time, datetime):
        if time.tzinfo is not None:
            why = "times are on the feed's clock, so give a datetime without a zone (UTC minus clock_offset_seconds)."
            raise ValueError(f"{name} is {time.isoformat()}, which has a zone; {why}")
        time = time.replace(tzinfo=timezone.utc).timestamp()
    if not isinstance(time, Real) or not 0 <= time <= _SECONDS_MAX:
        what = "in milliseconds; " if isinstance(time, Real) and time > _SECONDS_MAX else ""
        raise ValueError(f"{name} is {time!r}; {what}pass a datetime or seconds.")
    return int(time)
