#!/usr/bin/env python3
"""Tests of the reporter on small JUnit files as CTest writes them."""
import contextlib
import io
import os
import tempfile
import unittest

import report


def case(name, status, inside="", out=""):
    return f'<testcase name="{name}" status="{status}">{inside}<system-out>{out}</system-out></testcase>'


def run(*cases, extra=()):
    """Returns exit status and printed lines of a report on one run of these cases."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.xml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"<testsuite>{''.join(cases)}</testsuite>")
        with contextlib.redirect_stdout(io.StringIO()) as out:
            status = report.report([f"junit=release:{path}", *extra])
    return status, out.getvalue().splitlines()


class Report(unittest.TestCase):
    def test_counts_passed_tests_and_steps(self):
        status, lines = run(case("a", "run"), extra=["step=headers: each alone:passed"])
        self.assertEqual((status, lines[-1]), (0, "2 passed, 0 failed, 0 skipped"))

    def test_a_failure_is_named_and_fails_the_run(self):
        status, lines = run(case("a", "run"), case("b", "fail", '<failure message=""/>'))
        self.assertEqual((status, lines[-1]), (1, "1 passed, 1 failed, 0 skipped"))
        self.assertIn("  release: b", lines)

    def test_a_skipped_test_is_listed_with_its_reason(self):
        status, lines = run(case("a", "run"), case("b", "notrun", "<skipped/>", "SKIPPED: no IPv6 here\n"))
        self.assertEqual((status, lines[-1]), (0, "1 passed, 0 failed, 1 skipped"))
        self.assertIn("  release: b: no IPv6 here", lines)

    def test_a_skipped_test_that_failed_is_a_failure(self):
        out = "SKIPPED: not really\ntest cases: 1 | 1 failed\n"
        self.assertEqual(run(case("a", "run"), case("b", "notrun", "<skipped/>", out))[0], 1)

    def test_the_cases_of_one_source_file_count_each(self):
        out = "SKIPPED: no IPv6 here\nAll tests passed (30 assertions in 4 test cases)\n"
        status, lines = run(case("os: thread_test", "run", out=out))
        self.assertEqual((status, lines[-1]), (0, "3 passed, 0 failed, 1 skipped"))
        self.assertIn("  release: os: thread_test: no IPv6 here", lines)

    def test_cases_that_were_skipped_for_the_same_reason_take_one_line(self):
        out = "SKIPPED: no IPv6 here\n" * 3 + "All tests passed (30 assertions in 4 test cases)\n"
        status, lines = run(case("os: thread_test", "run", out=out))
        self.assertEqual((status, lines[-1]), (0, "1 passed, 0 failed, 3 skipped"))
        self.assertEqual([line for line in lines if "IPv6" in line], ["  release: os: thread_test: no IPv6 here (3 cases)"])

    def test_a_source_file_without_cases_counts_nothing(self):
        status, lines = run(case("os: thread_test", "run"), case("os: suite_test", "run", out="No tests ran\n"))
        self.assertEqual((status, lines[-1]), (0, "1 passed, 0 failed, 0 skipped"))

    def test_a_test_that_could_not_start_is_a_failure(self):
        status, lines = run(case("a", "run"), case("b_NOT_BUILT", "notrun", "<skipped/>"))
        self.assertEqual((status, lines[-1]), (1, "1 passed, 1 failed, 0 skipped"))

    def test_the_tests_with_omniorb_are_listed(self):
        self.assertIn("  release: omniORB calls us: passed", run(case("omniORB calls us", "run"))[1])

    def test_a_run_without_a_result_is_a_failure(self):
        status, lines = run(case("a", "run"), extra=["junit=tsan:/nowhere/run.xml"])
        self.assertEqual((status, lines[-1]), (1, "1 passed, 1 failed, 0 skipped"))

    def test_a_run_of_no_tests_is_a_failure(self):
        self.assertEqual(run()[0], 1)


if __name__ == "__main__":
    unittest.main()
