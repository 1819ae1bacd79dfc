"""What the client makes of answers of HTTP, without a socket."""

import json
import unittest

from fxd import FxdError
from fxd.http import pause_after, refusal

ELSEWHERE = "http://elsewhere.example/"


class HttpTest(unittest.IsolatedAsyncioTestCase):
    def test_the_pause_stays_bounded_after_thousands_of_failures(self) -> None:
        self.assertLessEqual(pause_after(5_000), 30)

    def test_a_refusal_without_an_error_body_of_the_service_may_pass(self) -> None:
        for status in (401, 403, 404, 408, 426, 502):
            self.assertTrue(refusal(status, None, b"404 page not found").may_pass, status)

    def test_a_refusal_of_the_service_may_pass_if_it_is_429_or_5xx(self) -> None:
        body = json.dumps({"error": {"code": "KEY_EXPIRED", "message": "expired"}}).encode()
        passes = {status: refusal(status, None, body).may_pass for status in (400, 401, 403, 404, 429, 503)}
        self.assertEqual([status for status, may in passes.items() if may], [429, 503])

    def test_a_failure_of_the_socket_with_a_code_does_not_pass_and_no_answer_does(self) -> None:
        passes = {code: FxdError(code, "").may_pass for code in ("SYMBOL_REJECTED", "CLOSED", "UNAVAILABLE")}
        self.assertEqual([code for code, may in passes.items() if may], ["UNAVAILABLE"])

    def test_a_redirect_is_an_error_that_names_its_address_and_does_not_pass(self) -> None:
        error = refusal(302, None, b"", ELSEWHERE)
        self.assertEqual((error.code, error.may_pass), ("REDIRECTED", False))
        self.assertIn(ELSEWHERE, error.message)


if __name__ == "__main__":
    unittest.main()
