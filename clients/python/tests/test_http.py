"""What the client makes of answers of HTTP, without a socket."""

import unittest

from fxd.http import pause_after


class HttpTest(unittest.TestCase):
    def test_the_pause_stays_bounded_after_thousands_of_failures(self) -> None:
        self.assertLessEqual(pause_after(5_000), 30)


if __name__ == "__main__":
    unittest.main()
