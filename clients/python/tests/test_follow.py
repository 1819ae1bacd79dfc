"""The rules, by frames and answers alone."""

import json
import logging
import unittest

from fxd import Bar, FxdError, Gap, Revised
from fxd.follow import Follow, Job
from fxd.items import TIME_MAX

KEY, FEED = "A:B:EURUSD", "A:B"
T = 1_795_176_000
PRICES = (1.1, 1.2, 1.0, 1.15, 7)


def bar(minute: int) -> Bar:
    return Bar(KEY, T + minute * 60, *PRICES)


def rows(minute: int, name: str = "EURUSD") -> str:
    return json.dumps({"type": "bars", "feed": FEED, "time": T + minute * 60, "bars": [[name, *PRICES]]})


def gap(**fields: int) -> str:
    return json.dumps({"type": "error", "code": "GAP", "message": "", "gaps": [{"symbol": KEY, **fields}]})


def subscribed(*symbols: str, rejected: list[str] | None = None, **more: object) -> str:
    return json.dumps({"type": "subscribed", "symbols": symbols, "rejected": rejected or [], **more})


class FollowTest(unittest.TestCase):
    def setUp(self) -> None:
        logging.disable(logging.CRITICAL)
        self.addCleanup(logging.disable, logging.NOTSET)
        self.follow = self.new()

    def new(self, last: int | None = T, **more: object) -> Follow:
        follow = Follow(
            **{"wanted": [], "start": None, "position": {}, "revisions": False, "logger": logging.getLogger(), **more}
        )
        follow.add(KEY, last)
        return follow

    def open(self) -> None:
        self.follow.opened({})
        self.follow.messages(0)
        self.assertEqual(self.follow.frame(subscribed(KEY, since={KEY: T}), 0), [])

    def job(self, now: float) -> Job:
        job = self.follow.next_job(now)
        assert job is not None
        return job

    def actions(self, now: float = 0) -> list[tuple[str, object]]:
        return [(each["action"], each.get("since", each["symbols"])) for each in self.follow.messages(now)]

    def test_a_start_is_given_as_since_and_bars_that_repeat_or_go_back_are_left_out(self) -> None:
        self.follow.opened({})
        self.assertEqual(self.actions(), [("subscribe", {KEY: T})])
        self.assertEqual(self.follow.frame(rows(1), 0), [], "of an earlier subscription")
        self.follow.frame(subscribed(KEY, since={KEY: T}), 0)
        given = [item for minute in (0, 1, 1, 3, 2) for item in self.follow.frame(rows(minute), 0)]
        self.assertEqual(given, [bar(1), bar(3)])

    def test_a_single_frame_gives_the_same_bar(self) -> None:
        self.open()
        fields = dict(zip(("time", "open", "high", "low", "close", "volume"), bar(1)[1:]))
        frame = json.dumps({"type": "bar", "symbol": KEY, "bar": fields})
        self.assertEqual(self.follow.frame(frame, 0), [bar(1)])

    def test_after_a_gap_live_bars_wait_until_history_has_all_minutes_before_the_first(self) -> None:
        self.open()
        self.follow.frame(gap(after=T), 0)
        job = self.job(0)
        self.assertEqual((job.start, job.behind), (T + 1, False))
        self.assertEqual(self.follow.held(job, [bar(1)], None, 0), [bar(1)])
        self.assertIsNone(self.follow.next_job(60), "nothing to read before a live bar")
        self.assertEqual(self.follow.frame(rows(3), 60), [])
        self.assertEqual(self.follow.held(self.job(60), [], None, 60), [])
        job = self.job(62)
        self.assertFalse(self.follow.needs_coverage(job, [bar(2), bar(3)]))
        self.assertEqual(self.follow.held(job, [bar(2), bar(3)], None, 62), [bar(2), bar(3)])
        self.assertEqual(self.actions(), [("unsubscribe", [KEY]), ("subscribe", {KEY: T + 180})])

    def test_a_gap_without_later_live_bars_is_filled_without_another_subscription(self) -> None:
        self.open()
        self.follow.frame(gap(after=T, until=T + 120), 0)
        self.assertEqual(self.follow.held(self.job(0), [bar(1), bar(2)], None, 0), [bar(1), bar(2)])
        self.assertEqual(self.actions(), [])
        self.assertEqual(self.follow.frame(rows(3), 0), [bar(3)])

    def hold_with_a_missing_minute(self, ranges: list[dict[str, int]], now: float) -> list[object]:
        job = self.job(now)
        bars = [each for each in (bar(1), bar(4)) if each.time > (self.follow.series[KEY].last or 0)]
        self.assertTrue(self.follow.needs_coverage(job, bars))
        return list(self.follow.held(job, bars, ranges, now))

    def test_a_minute_without_a_trade_is_known_from_coverage(self) -> None:
        self.open()
        self.follow.frame(gap(), 0)
        self.follow.frame(rows(4), 0)
        covered = [{"from": T - 600, "to": T + 240}]
        self.assertEqual(self.hold_with_a_missing_minute(covered, 0), [bar(1), bar(4)])

    def test_minutes_before_the_first_one_of_coverage_are_not_waited_for(self) -> None:
        self.open()
        self.follow.frame(rows(3), 0)
        job = self.job(0)
        ranges = [{"from": T + 180, "to": T + 240}]
        self.assertEqual(self.follow.held(job, [bar(3), bar(4)], ranges, 0), [bar(3), bar(4)])

    def test_minutes_that_are_missing_after_two_minutes_are_a_gap_before_later_bars(self) -> None:
        self.open()
        self.follow.frame(gap(), 0)
        self.follow.frame(rows(4), 0)
        ranges = [{"from": T - 600, "to": T + 60}, {"from": T + 240, "to": T + 240}]
        self.assertEqual(self.hold_with_a_missing_minute(ranges, 0), [bar(1)])
        self.assertEqual(self.hold_with_a_missing_minute(ranges, 119), [])
        self.assertIsNone(self.follow.next_job(119.5), "pauses grow")
        unfilled = Gap(KEY, T + 120, T + 180, "unfilled")
        self.assertEqual(self.hold_with_a_missing_minute(ranges, 150), [unfilled, bar(4)])
        self.assertEqual(self.actions(), [("unsubscribe", [KEY]), ("subscribe", {KEY: T + 240})])

    def test_a_gap_is_not_forgotten_when_the_socket_closes(self) -> None:
        self.open()
        self.follow.frame(gap(), 0)
        self.open()
        self.assertEqual(self.follow.frame(rows(4), 0), [])
        covered = [{"from": T - 600, "to": T + 240}]
        self.assertEqual(self.hold_with_a_missing_minute(covered, 0), [bar(1), bar(4)])

    def test_what_the_service_does_not_replay_is_read_in_pages_while_nothing_is_subscribed(self) -> None:
        self.follow.opened({})
        self.follow.messages(0)
        begin = T + 20 * 86_400
        self.follow.frame(subscribed(KEY, since={KEY: begin}), 0)
        self.assertEqual(self.actions(), [("unsubscribe", [KEY])])
        first = self.job(0)
        self.assertEqual((first.start, first.end), (T + 1, T + 600_000))
        self.assertIsNone(self.follow.next_job(0), "one page at a time")
        self.assertEqual(self.follow.behind(first, [bar(1)]), [bar(1)])
        second = self.job(0)
        self.assertEqual((second.start, second.growth), (first.end + 1, 1))
        self.follow.behind(second, [])
        third = self.job(0)
        self.assertEqual((third.end, third.growth), (begin + 3_600, 4), "a page without bars lets the next one grow")
        self.follow.behind(third, [])
        last = self.job(0)
        self.assertEqual((last.end, last.growth), (TIME_MAX, 1), "the end of the reach is not passed")
        self.assertEqual(self.follow.behind(last, []), [])
        self.assertEqual(self.actions(), [("subscribe", {KEY: begin + 3_600})])

    def test_years_without_a_bar_are_crossed_in_few_pages_and_a_long_page_with_bars_is_read_in_shorter_ones(self) -> None:
        self.follow = self.new(last=-1)
        self.follow.opened({FEED: T})
        pages = 0
        while (job := self.job(0)).end < T - 30 * 86_400:
            pages += 1
            self.assertEqual(self.follow.behind(job, []), [])
        self.assertLess(pages, 10)
        self.assertEqual(self.follow.behind(job, None), [])
        shorter = self.job(0)
        self.assertEqual((shorter.start, shorter.growth), (job.start, job.growth // 4))
        while job.growth > 1:
            self.follow.behind(job, None)
            job = self.job(0)
        self.assertEqual(job.end - job.start + 1, 600_000)

    def test_a_symbol_that_is_a_day_behind_is_not_subscribed_at_first(self) -> None:
        self.follow.opened({FEED: T + 90_000})
        self.assertEqual(self.actions(), [])
        self.assertEqual(self.job(0).start, T + 1)

    def test_a_clock_that_falls_back_is_a_gap_of_the_repeated_minutes(self) -> None:
        self.open()
        expected = [Gap(KEY, T - 3_540, T, "clock")]
        self.assertEqual(self.follow.clock_set_back(FEED, 3_600), expected)

    def test_a_quiet_symbol_follows_the_complete_minutes_of_its_feed(self) -> None:
        self.open()
        self.follow.frame(json.dumps({"type": "minute", "feed": FEED, "time": T + 86_400}), 0)
        self.follow.opened({})
        self.assertEqual(self.actions(), [("subscribe", {KEY: T + 82_800})])

    def test_minutes_that_are_missing_before_the_first_bar_of_a_socket_are_looked_for_in_history(self) -> None:
        self.open()
        self.assertEqual(self.follow.frame(rows(3), 10), [])
        bars = [bar(1), bar(2), bar(3)]
        self.assertEqual(self.follow.held(self.job(10), bars, None, 10), bars)
        self.assertEqual(self.actions(12), [("unsubscribe", [KEY]), ("subscribe", {KEY: T + 180})])
        self.follow.frame(subscribed(KEY, since={KEY: T + 180}), 12)
        self.assertEqual(self.follow.frame(rows(6), 12), [bar(6)], "once for each socket")

    def test_the_first_bar_after_a_complete_minute_of_the_socket_is_given_at_once(self) -> None:
        self.open()
        self.open()
        self.follow.frame(json.dumps({"type": "minute", "feed": FEED, "time": T + 60}), 0)
        self.assertEqual(self.follow.frame(rows(480), 0), [bar(480)])
        self.assertIsNone(self.follow.next_job(0))

    def test_later_bars_that_history_shows_and_nobody_pushes_are_read(self) -> None:
        self.open()
        frame = {"type": "revised", "symbol": KEY, "resolution": "1", "from": T + 60, "to": T + 120}
        self.assertEqual(self.follow.frame(json.dumps(frame), 0), [])
        self.assertEqual(self.follow.held(self.job(0), [bar(1), bar(2)], None, 0), [bar(1), bar(2)])
        self.assertEqual(self.follow.frame(rows(3), 0), [bar(3)])

    def minute(self, minute: int) -> None:
        frame = json.dumps({"type": "minute", "feed": FEED, "time": T + minute * 60})
        self.assertEqual(self.follow.frame(frame, 0), [])

    def revised(self, start: int, end: int) -> list[object]:
        frame = {"type": "revised", "symbol": KEY, "resolution": "1", "from": T + start * 60, "to": T + end * 60}
        return list(self.follow.frame(json.dumps(frame), 0))

    def test_history_behind_later_bars_is_a_gap_where_no_minute_was_complete(self) -> None:
        self.open()
        self.minute(1)
        self.minute(400)
        self.assertEqual(self.follow.frame(rows(401), 0), [bar(401)])
        self.assertEqual(self.revised(0, 390), [Gap(KEY, T + 60, T + 390 * 60, "unfilled")])
        self.assertEqual(self.revised(390, 401), [Gap(KEY, T + 390 * 60, T + 399 * 60, "unfilled")])

    def test_a_correction_of_given_bars_and_of_complete_minutes_is_no_gap(self) -> None:
        self.open()
        self.follow.frame(rows(1), 0)
        for minute in range(1, 9):
            self.minute(minute)
        self.assertEqual(self.follow.frame(rows(9), 0), [bar(9)])
        self.assertEqual(self.revised(0, 9), [])

    def test_corrections_come_only_if_wanted(self) -> None:
        frame = json.dumps({"type": "revised", "symbol": KEY, "resolution": "1", "from": T, "to": T + 60})
        self.assertEqual(self.follow.frame(frame, 0), [])
        self.assertEqual(self.new(revisions=True).frame(frame, 0), [Revised(KEY, "1", T, T + 60)])

    def test_a_rejected_symbol_ends_the_iterator_but_not_if_it_was_accepted_before(self) -> None:
        self.follow.opened({})
        self.follow.messages(0)
        with self.assertRaises(FxdError) as raised:
            self.follow.frame(subscribed(rejected=[KEY]), 0)
        self.assertEqual(raised.exception.code, "SYMBOL_REJECTED")
        self.open()
        self.follow.opened({})
        self.follow.messages(0)
        self.follow.frame(subscribed(rejected=[KEY]), 0)
        self.assertEqual(self.actions(59), [])
        self.assertEqual(self.actions(61), [("subscribe", {KEY: T})])

    def test_a_new_symbol_of_a_whole_feed_begins_at_the_start(self) -> None:
        self.follow = self.new(wanted=[FEED], start=T)
        self.open()
        whole = self.follow.messages(0)
        self.assertEqual([(each["symbols"], each["feeds"]) for each in whole], [([], [FEED])])
        self.follow.frame(subscribed("A:B:NEW", reason="joined"), 0)
        self.assertEqual(self.actions(), [("unsubscribe", ["A:B:NEW"]), ("subscribe", {"A:B:NEW": T - 1})])

    def test_a_new_symbol_of_a_whole_feed_begins_behind_its_time_in_the_position(self) -> None:
        for start in (None, T):
            self.follow = self.new(wanted=[FEED], start=start, position={"A:B:NEW": T - 600})
            self.open()
            self.follow.messages(0)
            self.follow.frame(subscribed("A:B:NEW", reason="joined"), 0)
            self.assertEqual(self.actions(), [("unsubscribe", ["A:B:NEW"]), ("subscribe", {"A:B:NEW": T - 600})])

    def test_a_rejected_symbol_of_a_whole_feed_waits_until_it_joins(self) -> None:
        self.follow = self.new(wanted=[FEED])
        self.follow.opened({})
        self.follow.messages(0)
        self.follow.frame(subscribed(rejected=[KEY]), 0)
        self.assertEqual(self.actions(1e9), [("subscribe", [])])
        self.follow.frame(subscribed(KEY, reason="joined"), 0)
        self.assertEqual(self.actions(), [("unsubscribe", [KEY]), ("subscribe", {KEY: T})])

    def test_a_followed_symbol_of_a_whole_feed_is_asked_for_each_minute_once_it_is_rejected(self) -> None:
        self.follow = self.new(wanted=[FEED])
        self.open()
        self.open()
        self.follow.messages(0)
        self.follow.opened({})
        self.follow.messages(0)
        self.follow.frame(subscribed(rejected=[KEY]), 0)
        self.assertEqual(self.actions(59), [("subscribe", [])], "the feed does not wait for it")
        self.assertEqual(self.actions(61), [("subscribe", {KEY: T})])
        self.follow.frame(subscribed(rejected=[KEY]), 61)
        self.assertEqual(self.actions(62), [])
        self.follow.frame(subscribed(KEY, reason="joined"), 63)
        self.assertEqual(self.actions(64), [("unsubscribe", [KEY]), ("subscribe", {KEY: T})])

    def test_a_lost_grant_ends_the_iterator(self) -> None:
        self.open()
        frame = {"type": "unsubscribed", "symbols": [KEY], "reason": "SYMBOL_NOT_PERMITTED"}
        with self.assertRaises(FxdError) as raised:
            self.follow.frame(json.dumps(frame), 0)
        self.assertEqual(raised.exception.code, "SYMBOL_NOT_PERMITTED")

    def test_a_message_that_the_service_does_not_understand_ends_the_iterator(self) -> None:
        for code in ("BAD_MESSAGE", "UNSUPPORTED_TYPE"):
            frame = {"type": "error", "code": code, "message": 'unknown field "feeds"'}
            with self.assertRaisesRegex(FxdError, f'{code}: the service does not support this client: .*"feeds"'):
                self.follow.frame(json.dumps(frame), 0)

    def test_five_thousand_symbols_are_subscribed_in_messages_of_at_most_64_kib(self) -> None:
        for number in range(5_000):
            self.follow.add(f"BROKERNAME:ACCOUNTNAME:A_LONG_INSTRUMENT_{number}.EXCHANGE", T)
        self.follow.opened({})
        messages = self.follow.messages(0)
        self.assertEqual(sum(len(each["symbols"]) for each in messages), 5_001)
        self.assertLess(max(len(json.dumps(each)) for each in messages), 65_536)

    def test_liveness_is_judged_by_complete_minutes_and_the_service_and_only_with_heartbeats(self) -> None:
        liveness = self.follow.liveness
        self.assertEqual(liveness.verdicts(True, True, 120), {})
        self.follow.frame(json.dumps({"type": "minute", "feed": FEED, "time": T}), 0)
        self.assertEqual(liveness.verdicts(True, True, 120), {FEED: "unknown"})
        heart = {"type": "feed", "feed": FEED, "status": "live", "liveness_source": "heartbeat"}
        self.follow.frame(json.dumps(heart), 0)
        self.assertEqual(liveness.verdicts(True, True, 120), {FEED: "quiet"})
        self.follow.frame(rows(1), 0)
        self.assertEqual(liveness.verdicts(True, True, 120), {FEED: "live"})
        self.assertEqual(liveness.verdicts(True, False, 120), {FEED: "dead"})
        self.assertEqual(liveness.verdicts(False, True, 120), {FEED: "unknown"})
        self.follow.frame(json.dumps({**heart, "status": "stale"}), 0)
        self.assertEqual(liveness.verdicts(True, True, 120), {FEED: "dead"})

    def test_a_feed_is_quiet_after_two_minutes_of_connections_or_if_the_service_had_no_bar_for_as_long(self) -> None:
        liveness = self.follow.liveness
        fields = {"status": "live", "liveness_source": "heartbeat", "last_candle_age_seconds": 42}
        liveness.status(FEED, fields)
        verdicts = [liveness.verdicts(True, True, age)[FEED] for age in (3, 119, 120)]
        self.assertEqual(verdicts, ["unknown", "unknown", "quiet"])
        liveness.status(FEED, {**fields, "last_candle_age_seconds": 121})
        self.assertEqual(liveness.verdicts(True, True, 3), {FEED: "quiet"})


if __name__ == "__main__":
    unittest.main()
