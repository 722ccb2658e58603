#!/usr/bin/env python3
"""Tests of what the comparison computes from its results: medians, ratios round by round, failures, goals."""
import os
import sys
import tempfile
import unittest

sys.path.insert(0, sys.argv.pop(1))

import goals  # noqa: E402
import results  # noqa: E402


def result(row, peer, number, **metrics):
    return {"row": row, "peer": peer, "round": number, "metrics": metrics}


def failed(row, peer, number, reason):
    return {"row": row, "peer": peer, "round": number, "error": reason}


def series(peer, values, row="r", metric="p50_ns"):
    return [result(row, peer, number, **{metric: value}) for number, value in enumerate(values, 1)]


def of(*lists):
    return results.Results({}, [entry for entries in lists for entry in entries])


class Ratios(unittest.TestCase):
    def test_the_ratio_is_the_median_of_the_rounds_and_not_of_the_medians(self):
        # The machine was ten times slower in round 2. Ratio of the medians: 30 / 20.
        kept = of(series("a", [10, 300, 30]), series("b", [20, 100, 15]))
        self.assertEqual(kept.ratio("r", "a", "p50_ns", "r", "b"), 2.0)

    def test_only_rounds_in_which_both_ran_count(self):
        kept = of(series("a", [10, 20, 30]), series("b", [10, 5]))
        self.assertEqual(kept.ratio("r", "a", "p50_ns", "r", "b"), 2.5)

    def test_without_a_common_round_there_is_no_ratio(self):
        kept = of(series("a", [10]), [failed("r", "b", 1, "no"), result("r", "b", 2, p50_ns=1)])
        self.assertIsNone(kept.ratio("r", "a", "p50_ns", "r", "b"))

    def test_a_ratio_to_nothing_is_none(self):
        self.assertIsNone(of(series("a", [1]), series("b", [0])).ratio("r", "a", "p50_ns", "r", "b"))

    def test_a_ratio_may_be_to_another_row(self):
        kept = of(series("a", [90, 80], "x", "rate"), series("a", [100, 100], "y", "rate"))
        self.assertAlmostEqual(kept.ratio("x", "a", "rate", "y", "a"), 0.85)


class Medians(unittest.TestCase):
    def test_the_median_of_the_rounds(self):
        self.assertEqual(of(series("a", [5, 1, 3])).median("r", "a", "p50_ns"), 3)
        self.assertEqual(of(series("a", [5, 1])).median("r", "a", "p50_ns"), 3)

    def test_a_maximum_and_what_was_lost_are_the_worst_of_the_rounds(self):
        self.assertEqual(of(series("a", [5, 1, 3], metric="max_ns")).median("r", "a", "max_ns"), 5)
        self.assertEqual(of(series("a", [0, 0, 1], metric="lost")).median("r", "a", "lost"), 1)

    def test_what_no_round_measured_is_none(self):
        self.assertIsNone(of(series("a", [5])).median("r", "a", "rate"))
        self.assertIsNone(of([failed("r", "a", 1, "no")]).median("r", "a", "p50_ns"))


class Failures(unittest.TestCase):
    def test_failed_rounds_failed_calls_and_lost_oneways_are_failures(self):
        kept = of([result("r", "a", 1, failed=0, lost=0, sent=9), failed("r", "a", 2, "it broke"),
                   result("r", "a", 3, failed=3, fault="TRANSIENT"), result("r", "a", 4, failed=0, lost=2, sent=9)])
        self.assertEqual(kept.failures("r", "a"), ["it broke", "3 calls failed: TRANSIENT", "2 of 9 lost"])
        self.assertEqual(kept.rounds_of("r", "a"), 4)


class Files(unittest.TestCase):
    def load(self, text):
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl", delete=False) as file:
            file.write(text)
        self.addCleanup(os.unlink, file.name)
        return results.load(file.name)

    def test_what_was_saved_is_loaded(self):
        with tempfile.TemporaryFile("w+") as file:
            results.save_line(file, {"facts": {"rounds": 1}})
            results.save_line(file, result("r", "a", 1, p50_ns=4))
            file.seek(0)
            kept = self.load(file.read())
        self.assertEqual((kept.facts, kept.results), ({"rounds": 1}, [result("r", "a", 1, p50_ns=4)]))

    def test_another_file_is_refused(self):
        for text in ("", "hello\n", "{}\n", '{"facts": {}}\n{"row": "r"}\n'):
            with self.assertRaisesRegex(ValueError, "is no file of results"):
                self.load(text)


class Goals(unittest.TestCase):
    def judged(self, goal, *lists):
        return goals.judge(goal, of(*lists))

    def ratio(self, bound, at_least=False, instead=None):
        return goals._ratio("r", "rate" if at_least else "p50_ns", "a", "b", bound, at_least, instead=instead)

    def test_at_the_bound_a_goal_is_met_and_beyond_it_missed(self):
        self.assertEqual(self.judged(self.ratio(2), series("a", [2]), series("b", [1])).status, "met")
        self.assertEqual(self.judged(self.ratio(2), series("a", [2.1]), series("b", [1])).status, "missed")

    def test_a_goal_for_a_rate_is_met_from_its_bound_on(self):
        b = series("b", [1], metric="rate")
        self.assertEqual(self.judged(self.ratio(2, True), series("a", [2], metric="rate"), b).status, "met")
        self.assertEqual(self.judged(self.ratio(2, True), series("a", [1.9], metric="rate"), b).status, "missed")

    def test_meeting_the_other_goal_is_enough(self):
        goal = self.ratio(2, True, goals._ratio("r", "rate", "a", "c", 0.9, True))
        rates = [series(peer, [value], metric="rate") for peer, value in (("a", 1), ("b", 1), ("c", 1.1))]
        self.assertEqual(self.judged(goal, *rates).status, "met")
        rates[2] = series("c", [1.2], metric="rate")
        self.assertEqual(self.judged(goal, *rates).status, "missed")

    def test_a_round_that_failed_misses_the_goal(self):
        judgement = self.judged(self.ratio(2), series("a", [1]), [failed("r", "a", 2, "no")], series("b", [1, 1]))
        self.assertEqual((judgement.status, judgement.why), ("missed", "1 of 2 rounds failed"))
        judgement = self.judged(self.ratio(2), [failed("r", "a", 1, "no")], series("b", [1]))
        self.assertEqual((judgement.status, judgement.got), ("missed", None))

    def test_without_the_peer_a_goal_is_not_measured(self):
        judgement = self.judged(self.ratio(2), series("a", [1]))
        self.assertEqual((judgement.status, judgement.why), ("not measured", "no b in r"))

    def test_sums_are_computed_round_by_round(self):
        quantities = tuple(goals.Quantity("r", peer, "p50_ns") for peer in "abcd")
        goal = goals.Goal("r", "", "sum", quantities, 300, unit="ns")
        lists = [series(peer, values) for peer, values in
                 (("a", [1000, 2000]), ("b", [600, 1700]), ("c", [300, 300]), ("d", [100, 100]))]
        self.assertEqual(self.judged(goal, *lists).got, 150)  # the differences are 200 and 100


if __name__ == "__main__":
    unittest.main()
