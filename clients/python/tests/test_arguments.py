"""What arguments are refused, and with which sentence."""

import unittest
from datetime import date, datetime, timezone

from fxd import AsyncFxd, Fxd

KEY = "A:B:EURUSD"


class ArgumentsTest(unittest.TestCase):
    def setUp(self) -> None:
        self.client = AsyncFxd("http://127.0.0.1:9", "fxd_x")

    def refused(self, sentence: str, symbols: object = KEY, **more: object) -> None:
        with self.assertRaisesRegex(ValueError, sentence):
            self.client.bars(symbols, **more)

    def test_an_empty_list_of_symbols_is_refused_by_its_name(self) -> None:
        self.refused("^symbols is empty;", [])

    def test_a_symbol_that_is_no_compound_key_is_refused_with_its_value(self) -> None:
        self.refused("^symbols has 'EURUSD'; it must be BROKER:ACCOUNT:NAME", ["EURUSD"])
        self.refused("^symbols has 5; it must be BROKER:ACCOUNT:NAME", [5])

    def test_milliseconds_are_refused_with_what_to_pass(self) -> None:
        self.refused("^start is 1795176000000; in milliseconds; pass a datetime or seconds.$", start=1_795_176_000_000)

    def test_a_text_or_a_date_is_refused_by_the_name_of_the_argument(self) -> None:
        for wrong in ("2026-11-28", date(2026, 11, 28), -1, float("nan")):
            self.refused("^start is .*; pass a datetime or seconds.$", start=wrong)

    def test_a_datetime_with_a_zone_is_refused_since_times_are_on_the_clock_of_the_feed(self) -> None:
        self.refused("^start is 2026-11-28T.*, which has a zone; times are on", start=datetime(2026, 11, 28, tzinfo=timezone.utc))

    def test_a_position_that_is_none_or_with_times_is_refused_by_its_name(self) -> None:
        self.refused("^after is 5; it must be a position", after=5)
        self.refused("^after\\['A:B:EURUSD'\\] is '1'; pass", after={KEY: "1"})

    def test_seconds_a_datetime_and_none_are_taken(self) -> None:
        for start in (0, 1.5, datetime(2026, 11, 28), None):
            self.client.bars(KEY, start=start, after=None)

    def test_an_address_of_another_scheme_is_refused_by_the_name_of_the_argument(self) -> None:
        for wrong in ({"url": "127.0.0.1:9"}, {"ws_url": "http://127.0.0.1:9"}):
            with self.assertRaisesRegex(ValueError, f"^{next(iter(wrong))} is '.*'; it must begin with"):
                AsyncFxd(key="fxd_x", **wrong)

    def test_a_key_with_the_end_of_a_line_is_refused_and_not_shown(self) -> None:
        with Fxd("http://127.0.0.1:9", "fxd_x\n") as client:
            with self.assertRaisesRegex(ValueError, "^key has a space or another character that no key has.$"):
                next(client.bars(KEY))

    def test_a_range_of_history_is_checked_alike(self) -> None:
        with Fxd("http://127.0.0.1:9", "fxd_x") as client:
            with self.assertRaisesRegex(ValueError, "^end is '2026'; pass"):
                next(client.history(KEY, end="2026"))


if __name__ == "__main__":
    unittest.main()
