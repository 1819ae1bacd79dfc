"""Pages of history, with answers by the rules of `/v1/history`."""

import unittest
from bisect import bisect_left, bisect_right
from typing import Any

from fxd.history import PAGE_BARS, pages

YEAR = 365 * 86_400


class Answers:
    def __init__(self, times: list[int]) -> None:
        self.times = times
        self.sizes: list[int] = []

    async def get(self, _path: str, query: dict[str, Any], _patience: float = 0) -> dict[str, Any]:
        end = len(self.times) if query.get("to") is None else bisect_right(self.times, query["to"])
        first = max(0, end - query["countback"]) if "countback" in query else bisect_left(self.times, query["from"])
        times = self.times[first:end]
        self.sizes.append(len(times))
        return {"s": "ok", "t": times, **{name: times for name in "ohlcv"}} if times else {"s": "no_data"}


class HistoryTest(unittest.IsolatedAsyncioTestCase):
    async def test_each_bar_comes_once_over_years_without_bars_in_few_and_bounded_answers(self) -> None:
        times = [start + minute * 60 for start in (YEAR, 5 * YEAR + 60, 50 * YEAR) for minute in range(12_345)]
        answers = Answers(times)
        given = [bar.time async for bars in pages(answers, "A:B:C", "1", 0, None) for bar in bars]
        self.assertEqual(given, times)
        self.assertLess(len(answers.sizes), 100)
        self.assertLessEqual(max(answers.sizes), PAGE_BARS)

    async def test_a_series_without_a_bar_takes_one_answer(self) -> None:
        answers = Answers([])
        self.assertEqual([bars async for bars in pages(answers, "A:B:C", "1D", 0, None)], [])
        self.assertEqual(answers.sizes, [0])


if __name__ == "__main__":
    unittest.main()
