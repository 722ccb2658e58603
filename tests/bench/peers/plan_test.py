#!/usr/bin/env python3
"""Tests of the comparison's plan: which rows and peers run in which order, and that the tables name only what exists."""
import contextlib
import io
import os
import re
import sys
import tempfile
import unittest

sys.path.insert(0, sys.argv.pop(1))

import bench_peers  # noqa: E402
import formats  # noqa: E402
import goals  # noqa: E402
import peers  # noqa: E402
import results  # noqa: E402
import rows  # noqa: E402
import runs  # noqa: E402

FOLDER = os.path.dirname(sys.path[0])


def options(*words):
    with contextlib.redirect_stderr(io.StringIO()) as err:
        try:
            return bench_peers.parsed(words)
        except SystemExit:
            raise ValueError(err.getvalue()) from None


class Order(unittest.TestCase):
    def plan(self, rounds, *words):
        chosen = options(*words)
        return list(bench_peers.plan(chosen.rows, chosen.chosen, rounds))

    def test_every_row_meets_each_of_its_peers_once_in_a_round(self):
        runs_of_all = self.plan(2)
        for number in (1, 2):
            for row in rows.ROWS:
                names = [peer.name for other, each, peer in runs_of_all if other == number and each is row]
                self.assertEqual(sorted(names), sorted(row.peers))

    def test_rows_are_interleaved_round_by_round(self):
        rounds = [number for number, _, _ in self.plan(3)]
        self.assertEqual(rounds, sorted(rounds))

    def test_each_round_of_a_row_begins_with_another_peer(self):
        firsts = []
        for number, _, peer in self.plan(3, "--only", "two-way-one"):
            if len(firsts) < number:
                firsts.append(peer.name)
        self.assertEqual(len(set(firsts)), 3)

    def test_rows_and_peers_are_chosen_by_name_and_group(self):
        chosen = self.plan(1, "--only", "two-way-one", "spinning", "--peers", "omniorb", "ring-spin")
        self.assertEqual([(row.name, peer.name) for _, row, peer in chosen],
                         [("two-way-one", "omniorb-tcp"), ("two-way-one", "omniorb-unix"), ("spinning", "ring-spin")])

    def test_an_unknown_row_or_peer_is_refused_with_those_that_there_are(self):
        with self.assertRaisesRegex(ValueError, "unknown row 'two-way'; rows are two-way-one,"):
            options("--only", "two-way")
        with self.assertRaisesRegex(ValueError, "unknown peer 'corba'; peers are .*omniorb-tcp,"):
            options("--peers", "corba")
        with self.assertRaisesRegex(ValueError, "--rounds must be at least 1"):
            options("--rounds", "0")

    def test_an_older_build_of_corelane_runs_right_after_the_new_one(self):
        chosen = options("--only", "two-way-one", "--peers", "bare-tcp", "corelane-tcp", "--before", FOLDER)
        found = [peer for _, _, peer in bench_peers.plan(chosen.rows, chosen.chosen, 1, chosen.before)]
        self.assertEqual([(peer.name, peer.older) for peer in found],
                         [("bare-tcp", ""), ("corelane-tcp", ""), ("corelane-tcp@before", FOLDER)])
        self.assertEqual([peers.title_of(peer.name) for peer in found], [peer.title for peer in found])

    def test_an_older_build_that_is_not_there_is_refused(self):
        with self.assertRaisesRegex(ValueError, "--before: there is no folder /nowhere; copy build/bin/peers there"):
            options("--before", "/nowhere")

    def test_there_are_five_rounds_unless_it_is_to_be_quick(self):
        self.assertEqual((options().rounds, options("--quick").rounds, options("--rounds", "9").rounds), (5, 1, 9))


class Interrupt(unittest.TestCase):
    def test_an_interrupted_run_keeps_what_was_measured(self):
        outcomes = iter([{"metrics": {"p50_ns": 5}}, {"error": "no"}])

        def outcome_of(*_):
            try:
                return next(outcomes)
            except StopIteration:
                raise KeyboardInterrupt from None

        before, bench_peers.outcome_of = bench_peers.outcome_of, outcome_of
        self.addCleanup(setattr, bench_peers, "outcome_of", before)
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()), \
                contextlib.redirect_stderr(io.StringIO()) as err:
            kept = bench_peers.run_all(options("--only", "two-way-one", "--output", folder))
            saved = results.load(os.path.join(folder, "results.jsonl"))
        self.assertEqual(len(kept.results), 2)
        self.assertEqual(saved.results, kept.results)
        self.assertIn("interrupted", err.getvalue())


class Groups(unittest.TestCase):
    def groups(self, *words):
        return [group.name for group in bench_peers.groups_of(options(*words))]

    def test_only_what_the_chosen_rows_need_is_built(self):
        self.assertEqual(self.groups("--only", "spinning", "--peers", "bare"), ["bare"])
        self.assertEqual(self.groups("--only", "two-way-one", "--peers", "omniorb"), ["omniorb"])

    def test_a_row_with_idle_connections_needs_the_bare_client(self):
        self.assertEqual(self.groups("--only", "idle-memory", "--peers", "omniorb"), ["bare", "omniorb"])

    def test_peers_without_a_client_of_their_own_need_the_bare_one(self):
        self.assertEqual(self.groups("--peers", "floors"), ["bare", "floors"])
        self.assertEqual(self.groups("--peers", "ace"), ["bare", "ace"])

    def test_a_group_whose_name_begins_as_another_one_does_not_need_that(self):
        self.assertEqual(self.groups("--peers", "iceoryx2"), ["iceoryx2"])

    def test_dev_is_told_targets_and_packages(self):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            bench_peers.print_groups(options("--only", "tail-busy", "--peers", "bare", "omniorb"))
        self.assertEqual(out.getvalue().splitlines(),
                         ["bare corelane_peer_bare", "omniorb corelane_peer_omniorb omniidl omniorb-idl libomniorb4-dev",
                          "stress-ng - stress-ng"])


class Tables(unittest.TestCase):
    def test_names_are_unique(self):
        for table in (rows.ROWS, peers.PEERS, peers.GROUPS):
            names = [entry.name for entry in table]
            self.assertEqual(len(names), len(set(names)))

    def test_rows_name_peers_and_formats_that_there_are(self):
        known = {peer.name for peer in peers.PEERS}
        for row in rows.ROWS:
            self.assertLessEqual(set(row.peers), known, row.name)
            self.assertIn(row.how, runs.HOW)
            self.assertIn(row.cores, ("one", "two", "free"))
            self.assertLessEqual({row.metric, *row.columns}, set(formats.COLUMNS), row.name)
            self.assertTrue(not row.reference or row.reference in row.peers, row.name)

    def test_goals_name_rows_and_peers_that_there_are(self):
        for goal in goals.GOALS + [goal.instead for goal in goals.GOALS if goal.instead]:
            for quantity in goal.quantities:
                self.assertIn(quantity.peer, rows.row_named(quantity.row).peers, goal.says)

    def test_goals_compare_times_of_calls_only_where_the_processes_are_bound(self):
        # Otherwise the kernel places them on one core or on two, which changes the time more than what is compared.
        placed = {row.name: row.cores for row in rows.ROWS}
        for goal in goals.GOALS:
            for quantity in goal.quantities:
                if quantity.metric.startswith("p"):
                    self.assertIn(placed[quantity.row], ("one", "two"), goal)

    def test_every_group_has_a_target_and_every_program_its_source(self):
        with open(os.path.join(FOLDER, "CMakeLists.txt"), encoding="utf-8") as file:
            text = file.read()
        for group in peers.GROUPS:
            if not group.target:
                self.assertRegex(text, rf"NAME {group.name} |corelane_peer_{group.name}\b|foreach\(.*{group.name}")
        for peer in peers.PEERS:
            for words in filter(None, (peer.server, peer.client, peer.crowd)):
                match = re.match(r"corelane-peer-([a-z0-9]+)-(.+)", words[0])
                if match and match[1] != "iceoryx2":
                    source = os.path.join(FOLDER, match[1], match[2].replace("-", "_") + ".cpp")
                    self.assertTrue(os.path.exists(source), source)

    def test_a_quick_run_is_shorter(self):
        for row in rows.ROWS:
            self.assertLessEqual(runs.limit_of(row.load_of(True)), runs.limit_of(row.load_of(False)), row.name)


if __name__ == "__main__":
    unittest.main()
