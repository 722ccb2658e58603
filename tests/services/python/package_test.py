#!/usr/bin/env python3
"""Tests the Python package `corelane`: tables and their types, policies in Python, errors, signals.

    package_test.py PACKAGES PROGRAM

PACKAGES is the folder that contains the built package. PROGRAM is the command `corelane`.
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

PROGRAM, PACKAGES = sys.argv.pop(), sys.argv.pop()
sys.path.insert(0, PACKAGES)

import numpy  # noqa: E402
import pandas  # noqa: E402  the package needs it, so CMake has looked for it

import corelane  # noqa: E402

BARE = {"cores": 2, "budget": "0us", "blocking": "0us", "capacity": 1}


def task(label, budget, period="10ms", **others):
    return {"label": label, "period": period, "budget": budget, "jitter": "0us", **others}


def scenario(*tasks, **others):
    return {"platform": BARE, "task": list(tasks), "experiment": {"length": "1s"}, **others}


SWEEP = {"repetitions": 5, "platform": {"cores": 2}, "generate": {"tasks": 6}, "experiment": {"length": "100ms"},
         "sweep": [{"field": "generate.utilization", "values": [0.5, 1.9]}]}


class PlanTest(unittest.TestCase):
    def test_a_plan_says_where_each_task_runs_and_its_bound(self):
        plan = corelane.plan(scenario(task("a", "6ms"), task("b", "6ms"), task("c", "6ms")))
        self.assertEqual(list(plan.tasks["admitted"]), [True, True, False])
        self.assertEqual(list(plan.tasks["bound_ns"][:2]), [6_000_000, 6_000_000])
        self.assertTrue(plan.tasks["bound_ns"].isna()[2])
        self.assertIn("a deadline would be missed on every core", plan.tasks["refusal"][2])
        self.assertEqual(plan.tasks["period_ns"].dtype, "int64")
        self.assertEqual(list(plan.cores["tasks"]), [1, 1])
        self.assertEqual(list(plan.sets["admitted"]), [2])
        self.assertFalse(plan.sets["holds"][0])
        self.assertEqual(len(plan.chains), 0)
        self.assertIn("deadline_ns", plan.chains.columns)

    def test_sensitivity_finds_the_fewest_cores_and_the_largest_budgets(self):
        plan = corelane.plan(scenario(task("a", "4ms"), task("b", "4ms")), sensitivity=True)
        self.assertEqual(plan.sets["fewest_cores"][0], 1)
        self.assertGreaterEqual(plan.tasks["largest_budget_ns"][0], 9_000_000)
        self.assertTrue(corelane.plan(scenario(task("a", "4ms"))).sets["fewest_cores"].isna()[0])

    def test_a_sweep_is_planned_set_by_set(self):
        plan = corelane.plan(SWEEP)
        self.assertEqual(len(plan.sets), 10)
        self.assertEqual(sorted(plan.sets["generate.utilization"].unique()), [0.5, 1.9])
        accepted = plan.sets.groupby("generate.utilization")["accepted"].mean()
        self.assertEqual(accepted[0.5], 1.0)
        self.assertLess(accepted[1.9], 1.0)

    def test_the_number_of_cores_may_be_given(self):
        self.assertEqual(len(corelane.plan(scenario(task("a", "1ms")), cores=5).cores), 5)
        self.assertEqual(len(corelane.plan({"task": [task("a", "1ms")]}).cores), len(os.sched_getaffinity(0)))

    def test_a_plan_notes_that_charged_slowdowns_are_estimates(self):
        pair = [{"operation": "a", "beside": "b", "factor": 1.5}]
        charged = corelane.plan(scenario(task("a", "7ms"), task("b", "4ms"), policy={"charge_slowdowns": True},
                                         slowdown=pair))
        self.assertEqual(charged.notes, ["budgets include slowdowns, which are estimates: bounds hold only as far as these do"])
        self.assertTrue(str(charged).endswith(f"\nNote: {charged.notes[0]}."))
        self.assertIn("a would be analyzed with a budget of 10500us in place of 7ms: b on", charged.tasks["refusal"][1])
        self.assertEqual(corelane.plan(scenario(task("a", "7ms"))).notes, [])

    def test_chains_have_bounds(self):
        plan = corelane.plan(scenario(task("a", "2ms"), task("b", "2ms"), chain=[{"tasks": ["a", "b"], "deadline": "9ms"}]))
        self.assertEqual(list(plan.chains["deadline_ns"]), [9_000_000])
        self.assertEqual(list(plan.chains["bound_ns"]), [4_000_000])
        self.assertTrue(plan.chains["holds"][0])


class PrintTest(unittest.TestCase):
    LABELS = ("a", "a label that is longer than all others " * 3, "température", "温度", "e\u0301")

    def lines_up(self, text, column):
        """Checks that the rows below the heading `column` have their label where the heading is."""
        lines = text.split("\n")
        head = next(line for line in lines if line.endswith("  " + column))
        at, rows = head.rindex(column), lines[lines.index(head) + 1:][:len(self.LABELS)]
        self.assertEqual([row[at:] for row in rows], list(self.LABELS))
        self.assertTrue(all(row[at - 2:at] == "  " for row in rows))
        self.assertTrue(all(row[:at].isascii() for row in rows))

    def test_columns_line_up_whatever_the_labels_are(self):
        tasks = scenario(*(task(label, "1ms") for label in self.LABELS))
        self.lines_up(str(corelane.plan(tasks)), "label")
        self.lines_up(str(corelane.simulate(tasks)), "label")

    def test_a_plan_of_a_sweep_shows_the_swept_values(self):
        lines = str(corelane.plan(SWEEP)).split("\n")
        self.assertEqual(lines[0].split()[:2], ["generate.utilization", "set"])
        self.assertEqual(len(lines), 11 + 1 + 1 + 60)
        at = lines[0].index("holds")
        self.assertEqual({line[at:] for line in lines[1:11]}, {"True", "False"})

    def test_many_rows_are_shortened(self):
        shown = str(corelane.simulate(scenario(*(task(f"t{number}", "1us") for number in range(61))))).split("\n")
        self.assertEqual(shown[61], "rows left out: 1")
        self.assertRegex(shown[-1], "^Trace [0-9a-f]{16}[.]$")


class PolicyTest(unittest.TestCase):
    def test_an_allocation_in_python_places_the_tasks(self):
        def last_that_fits(cores, asking):
            return next((core for core in reversed(cores) if core.fits), None)

        tasks = scenario(task("a", "4ms"), task("b", "4ms"), task("c", "4ms"))
        plan = corelane.plan(tasks, allocation=last_that_fits)
        self.assertEqual(list(plan.tasks["core"]), [1, 1, 0])
        run = corelane.simulate(tasks, allocation=last_that_fits)
        self.assertEqual(list(run.tasks["core"]), [1, 1, 0])
        self.assertEqual(list(run.tasks["worst_ns"]), [4_000_000, 8_000_000, 4_000_000])

    def test_an_allocation_sees_cores_and_task(self):
        seen = []

        def look(cores, asking):
            seen.append((asking.label, asking.period_ns, asking.budget_ns, asking.utilization,
                         [(core.number, core.fits, len(core.tasks), core.utilization) for core in cores]))
            return cores[0].number

        plan = corelane.plan(scenario(task("a", "6ms"), task("b", "6ms")), allocation=look)
        self.assertEqual(seen, [("a", 10_000_000, 6_000_000, 0.6, [(0, True, 0, 0.0), (1, True, 0, 0.0)]),
                                ("b", 10_000_000, 6_000_000, 0.6, [(0, False, 1, 0.6), (1, True, 0, 0.0)])])
        self.assertEqual(list(plan.tasks["admitted"]), [True, False])

    def test_no_core_refuses_the_task_and_the_refusal_says_so(self):
        for function in (corelane.plan, corelane.simulate):
            tasks = function(scenario(task("a", "1ms")), allocation=lambda cores, asking: None).tasks
            self.assertFalse(tasks["admitted"][0])
            self.assertEqual(tasks["refusal"][0],
                             "the allocation function returned no core for it; return a core whose `fits` is true")

    def test_a_callable_object_is_named_by_its_type(self):
        class Chooser:
            def __call__(self, cores, asking):
                return "x"

        with self.assertRaisesRegex(TypeError, re.escape("the allocation Chooser() returned 'x', a str;")):
            corelane.plan(scenario(task("a", "1ms")), allocation=Chooser())

    def test_a_test_may_return_a_bool_of_numpy(self):
        plan = corelane.plan(scenario(task("a", "1ms")), test=lambda tasks: numpy.bool_(True))
        self.assertTrue(plan.tasks["admitted"][0])

    def test_an_allocation_may_return_a_number_of_numpy(self):
        for number in (numpy.int64(1), numpy.uint8(1), numpy.array(1)):
            plan = corelane.plan(scenario(task("a", "1ms")), allocation=lambda cores, asking, number=number: number)
            self.assertEqual(list(plan.tasks["core"]), [1])

    def test_a_test_in_python_decides(self):
        def at_most_half(tasks):
            return sum(each.utilization for each in tasks) <= 0.5

        plan = corelane.plan(scenario(task("a", "4ms"), task("b", "4ms"), task("c", "4ms")), test=at_most_half)
        self.assertEqual(list(plan.tasks["admitted"]), [True, True, False])
        self.assertTrue(plan.tasks["bound_ns"].isna().all())  # nothing was computed

    def test_a_test_that_admits_too_much_leads_to_misses(self):
        tasks = scenario(task("a", "6ms"), task("b", "6ms"), platform={**BARE, "cores": 1})
        self.assertGreater(corelane.simulate(tasks, test=lambda tasks: True).tasks["misses"].sum(), 0)
        self.assertEqual(corelane.simulate(tasks).tasks["misses"].sum(), 0)

    def test_an_exception_reaches_the_caller(self):
        class MyError(Exception):
            pass

        def fail(*arguments):
            raise MyError("mine")

        for choice in ({"allocation": fail}, {"test": fail}):
            for function in (corelane.plan, corelane.simulate):
                with self.assertRaisesRegex(MyError, "mine"):
                    function(scenario(task("a", "1ms")), **choice)

    def test_an_exception_of_an_answer_reaches_the_caller(self):
        class bool_:
            def __bool__(self):
                raise ArithmeticError("neither")

        for function in (corelane.plan, corelane.simulate):
            with self.assertRaisesRegex(ArithmeticError, "neither"):
                function(scenario(task("a", "1ms")), test=lambda tasks: bool_())

    def test_a_wrong_answer_is_an_error(self):
        for answer, error, words in ((7, ValueError, "core 7, which is none of those"), ("x", TypeError, "'x', a str;"),
                                     (2**70, ValueError, f"core {2**70}, which is none of those"),
                                     (-2**70, ValueError, f"core {-2**70}, which is none of those"),
                                     (numpy.int64(7), ValueError, "core 7, which is none of those"),
                                     (numpy.bool_(True), TypeError, f"{numpy.bool_(True)!r}, a bool"),
                                     (numpy.array([0, 1]), TypeError, "array([0, 1]), a ndarray;"),
                                     (True, TypeError, "True, a bool;"), (1.5, TypeError, "1.5, a float;")):
            def choose(cores, asking, answer=answer):
                return answer

            for function in (corelane.plan, corelane.simulate):
                with self.assertRaisesRegex(error, re.escape("the allocation choose() returned " + words)):
                    function(scenario(task("a", "1ms")), allocation=choose)
        for answer, words in ((None, "None, a NoneType;"), ("no", "'no', a str;"), (1, "1, a int;")):
            def holds(tasks, answer=answer):
                return answer

            with self.assertRaisesRegex(TypeError, re.escape(f"the test holds() returned {words} return True or False")):
                corelane.plan(scenario(task("a", "1ms")), test=holds)
        with self.assertRaisesRegex(TypeError, "test is 3; give a function"):
            corelane.plan(scenario(task("a", "1ms")), test=3)

    def test_built_in_policies_move_tasks_unless_the_scenario_forbids_that_and_functions_never_do(self):
        def worst_fit(cores, asking):
            return min((core for core in cores if core.fits), key=lambda core: core.utilization, default=None)

        moving = scenario(task("a", "4ms"), task("b", "6ms"), task("c", "3ms"), task("d", "5ms"))
        still = {**moving, "policy": {"repack": False}}
        for function in (corelane.plan, corelane.simulate):
            def cores_of(tasks, function=function, **choice):
                return function(tasks, **choice).tasks["core"].fillna(-1).tolist()

            self.assertEqual(cores_of(moving), [0, 1, 1, 0])
            self.assertEqual(cores_of(still), [0, 1, 0, -1])
            self.assertEqual(cores_of(moving, allocation=worst_fit), [0, 1, 0, -1])
            self.assertEqual(cores_of(still, allocation=worst_fit), [0, 1, 0, -1])

    def test_functions_are_noted_to_move_no_tasks_unless_the_scenario_says_so(self):
        one = scenario(task("a", "1ms"))
        for function in (corelane.plan, corelane.simulate):
            for choice in ({"allocation": lambda cores, asking: cores[0]}, {"test": lambda tasks: True}):
                notes = function(one, **choice).notes
                self.assertEqual(len(notes), 1)
                self.assertIn("functions move no task, but built-in policies pack all tasks anew", notes[0])
                self.assertIn("write policy.repack = false", notes[0])
                self.assertEqual(function({**one, "policy": {"repack": numpy.bool_(False)}}, **choice).notes, [])
            self.assertEqual(function(one).notes, [])

    def test_a_refusal_by_the_test_of_the_scenario_has_its_reason(self):
        tasks = scenario(task("a", "4ms"), task("b", "7ms", "14ms"), platform={**BARE, "cores": 1})
        for function in (corelane.plan, corelane.simulate):
            self.assertIn("closest is core 0, response 15ms against deadline 14ms",
                          function(tasks, allocation=lambda cores, asking: cores[0]).tasks["refusal"][1])

    def test_what_functions_cannot_work_with_is_refused(self):
        with self.assertRaisesRegex(corelane.ScenarioError, "is for cores that run nothing but the tasks; write budget"):
            corelane.plan({"platform": {"cores": 1}, "task": [task("a", "1ms")]}, test=lambda tasks: True)
        with self.assertRaisesRegex(corelane.ScenarioError, 'policy.allocation = "cache-aware" places tasks by their use'):
            corelane.plan(scenario(task("a", "1ms"), policy={"allocation": "cache-aware"}), test=lambda tasks: True)


class SimulateTest(unittest.TestCase):
    def test_a_run_has_its_tasks_and_jobs(self):
        run = corelane.simulate(scenario(task("a", "4ms"), task("b", "2ms", "20ms")))
        self.assertEqual(list(run.tasks["jobs"]), [100, 50])
        self.assertEqual(len(run.jobs), 150)
        first = run.jobs[run.jobs["task"] == "b"].iloc[0]
        self.assertEqual((first["release_ns"], first["finish_ns"], first["deadline_ns"]), (0, 2_000_000, 20_000_000))
        self.assertEqual(run.jobs["response_ns"].max(), 4_000_000)
        self.assertFalse(run.jobs["late"].any())
        self.assertEqual(run.trace, corelane.simulate(scenario(task("a", "4ms"), task("b", "2ms", "20ms"))).trace)

    def test_choices_replace_what_the_scenario_says(self):
        tasks = scenario(task("a", "6ms"), task("b", "6ms"))
        run = corelane.simulate(tasks, cores=1, dispatcher="mc-orb*", length_ns=500_000_000, jobs=False)
        self.assertEqual(list(run.tasks["jobs"]), [50, 50])
        self.assertGreater(run.tasks["misses"].sum(), 0)
        self.assertEqual(len(run.jobs), 0)

    def test_sets_count_over_all_combinations(self):
        first, last = (corelane.simulate(SWEEP, set=number).tasks["budget_ns"].sum() for number in (1, 10))
        self.assertLess(first, last)
        for number in (0, 11):
            with self.assertRaisesRegex(corelane.ScenarioError, f"set = {number} is none of its sets; choose one from 1 to 10"):
                corelane.simulate(SWEEP, set=number)

    def test_a_set_has_the_number_that_the_command_gives_it(self):
        with tempfile.TemporaryDirectory() as place:
            file = pathlib.Path(place, "sweep.toml")
            file.write_text(corelane._toml.toml_of(SWEEP))
            said = subprocess.run([PROGRAM, "simulate", file, "--set", "7", "--format", "json"], capture_output=True).stdout
        self.assertEqual(corelane.simulate(SWEEP, set=7).trace, json.loads(said)["trace"])

    def test_a_scenario_with_sweeps_needs_the_number_of_a_set(self):
        with self.assertRaisesRegex(corelane.ScenarioError, r"sweeps.*; choose one with set, from 1 to 10, or use sweep\(\)"):
            corelane.simulate(SWEEP)
        repeated = {name: value for name, value in SWEEP.items() if name != "sweep"}
        repeated["generate"] = {"tasks": 6, "utilization": 1}
        self.assertEqual(corelane.simulate(repeated).trace, corelane.simulate(repeated, set=1).trace)

    def test_an_unknown_dispatcher_is_named_with_the_known_ones(self):
        with self.assertRaisesRegex(corelane.ScenarioError, 'no dispatcher "x"; choose one of mc-orb'):
            corelane.simulate(scenario(task("a", "1ms")), dispatcher="x")
        self.assertIn("mc-orb", corelane.dispatchers())

    def test_a_refused_task_has_the_reason_that_its_client_would_get(self):
        run = corelane.simulate(scenario(task("a", "6ms"), task("b", "6ms"), platform={**BARE, "cores": 1}))
        self.assertIn("this contract would fit", run.tasks["refusal"][1])

    def test_other_threads_of_python_run_meanwhile(self):
        seen, ended = [], threading.Event()
        text = corelane._toml.toml_of(scenario(task("a", "100us", "1ms")))

        def watch():
            while not ended.is_set():
                seen.append(1)
                ended.wait(0.001)

        def seen_during(length):
            before = len(seen)
            corelane._corelane.simulate(text, "", [], None, None, None, "", None, length, False)
            return len(seen) - before

        watcher = threading.Thread(target=watch)
        watcher.start()
        try:  # without the lock the watcher runs once at most, however long the run takes
            self.assertTrue(any(seen_during(length) > 10 for length in (10**11, 10**12, 10**13)))
        finally:
            ended.set()
            watcher.join()


    def test_arguments_out_of_range_are_refused(self):
        one = scenario(task("a", "1ms"))
        for number in (-1, -(2**63), 0, 2, 2**63 - 1):
            with self.assertRaisesRegex(corelane.ScenarioError, f"set = {number} is none of its sets; choose one from 1 to 1"):
                corelane.simulate(one, set=number)
        for length in (0, -5):
            with self.assertRaisesRegex(corelane.ScenarioError, f"length_ns = {length} is no length of a run; write one"):
                corelane.simulate(one, length_ns=length)
        for function in (corelane.plan, corelane.simulate, corelane.sweep):
            for count in (0, -1, 1025, 32_768, 65_537):
                with self.assertRaisesRegex(corelane.ScenarioError, f"cores = {count} is no number of cores; write one from 1"):
                    function(one, cores=count)
        for number in (-1, 1025, 10**30):
            with self.assertRaisesRegex(ValueError, f"threads = {number} is no number from 0 to 1024; write one of these"):
                corelane.sweep(one, threads=number)
        self.assertEqual(len(corelane.plan(one, cores=1024).cores), 1024)

    def test_an_argument_of_a_wrong_type_is_named(self):
        one = scenario(task("a", "1ms"))
        for value, said in ((1e9, "1000000000.0 is a float"), (1.0, "1.0 is a float"), ("x", "'x' is a str"),
                            (True, "True is a bool"), (numpy.bool_(True), f"{numpy.bool_(True)!r} is a bool")):
            for function, name in ((corelane.plan, "cores"), (corelane.simulate, "cores"), (corelane.simulate, "set"),
                                   (corelane.simulate, "length_ns"), (corelane.sweep, "cores"), (corelane.sweep, "threads")):
                with self.assertRaisesRegex(TypeError, f"^{name} = " + re.escape(said) + ".*; write a whole number$"):
                    function(one, **{name: value})
        with self.assertRaisesRegex(TypeError, "^threads = None is a NoneType; write a whole number$"):
            corelane.sweep(one, threads=None)
        for number in (10**30, 2**63, -(2**63) - 1):
            for name in ("cores", "set", "length_ns"):
                with self.assertRaisesRegex(ValueError, f"^{name} = {number} is no number from -9223372036854775808 to"):
                    corelane.simulate(one, **{name: number})
        with self.assertRaisesRegex(ValueError, "^set is no number from "):
            corelane.simulate(one, set=10**5000)
        for value, said in ((1, "1 is a int"), (None, "None is a NoneType"), ("x", "'x' is a str")):
            for function, name in ((corelane.plan, "sensitivity"), (corelane.simulate, "jobs")):
                with self.assertRaisesRegex(TypeError, f"^{name} = {re.escape(said)}; write True or False$"):
                    function(one, **{name: value})
        for value, said in ((3, "3 is a int"), (None, "None is a NoneType"), (b"mc-orb", "b'mc-orb' is a bytes")):
            with self.assertRaisesRegex(TypeError, re.escape(f"dispatcher = {said}; write a text, one of dispatchers()")):
                corelane.simulate(one, dispatcher=value)
        with self.assertRaisesRegex(corelane.ScenarioError, r'there is no dispatcher "\\ud800"; choose one of mc-orb'):
            corelane.simulate(one, dispatcher="\ud800")
        self.assertEqual(len(corelane.simulate(one, jobs=numpy.bool_(False)).jobs), 0)
        run = corelane.simulate(one, cores=numpy.uint8(1), set=numpy.int64(1), length_ns=numpy.int64(20_000_000))
        self.assertEqual(list(run.tasks["jobs"]), [2])


class SweepTest(unittest.TestCase):
    def test_a_sweep_is_what_the_command_finds(self):
        with tempfile.TemporaryDirectory() as place:
            file = pathlib.Path(place, "sweep.toml")
            file.write_text(corelane._toml.toml_of(SWEEP))
            subprocess.run([PROGRAM, "eval", file, "--virtual", "--output", file.with_suffix(".csv")], check=True,
                           capture_output=True)
            expected, found = corelane.results(file.with_suffix(".csv")), corelane.sweep(file)
        order = ["cell", "set", "dispatcher"]
        pandas.testing.assert_frame_equal(*(frame.sort_values(order, ignore_index=True) for frame in (expected, found)))
        self.assertEqual(len(found), 20)
        self.assertEqual(found["generate.utilization"].dtype, "float64")
        self.assertEqual(found["misses"].dtype, "int64")
        self.assertEqual(found["allocation"].dtype, "string")

    def test_dispatchers_are_those_of_the_scenario(self):
        one = scenario(task("a", "1ms"), policy={"dispatcher": "direct"})
        self.assertEqual(list(corelane.sweep(one)["dispatcher"]), ["direct", "mc-orb*"])
        with self.assertRaisesRegex(corelane.ScenarioError, "<dict>: a sweep over policy.dispatcher has no meaning"):
            corelane.sweep({**one, "sweep": [{"field": "policy.dispatcher", "values": ["manager", "direct"]}]})

    def test_a_file_without_results_is_refused(self):
        with tempfile.TemporaryDirectory() as place:
            for name, text in (("a.toml", "[platform]\ncores = 1\n"), ("a.html", "<p>1,2</p>\n1,2,3,4\n"), ("a.csv", "")):
                file = pathlib.Path(place, name)
                file.write_text(text)
                with self.subTest(name), self.assertRaisesRegex(corelane.ScenarioError, f"{name} has no results of"):
                    corelane.results(file)

    def test_a_signal_stops_it_with_the_exception_of_its_handler(self):
        class Stopped(Exception):
            pass

        def stop(*_):
            raise Stopped

        before = signal.signal(signal.SIGUSR1, stop)
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGUSR1)).start()
        try:
            with self.assertRaises(Stopped):
                corelane.sweep({**SWEEP, "repetitions": 100_000})
        finally:
            signal.signal(signal.SIGUSR1, before)


class ScenarioTest(unittest.TestCase):
    def test_path_text_and_dict_mean_the_same(self):
        text = '[[task]]\nlabel = "a"\nperiod = "10ms"\nbudget = "1ms"\n'
        with tempfile.TemporaryDirectory() as place:
            file = pathlib.Path(place, "a.toml")
            file.write_text(text)
            frames = [corelane.plan(source, cores=1).tasks for source in
                      (file, str(file), text, {"task": [{"label": "a", "period": "10ms", "budget": "1ms"}]})]
        for frame in frames[1:]:
            pandas.testing.assert_frame_equal(frame, frames[0])

    def test_an_error_is_that_of_the_command(self):
        with tempfile.TemporaryDirectory() as place:
            file = pathlib.Path(place, "a.toml")
            file.write_text('[[task]]\nperiod = "10ms"\nbuget = "1ms"\n')
            for path in (file, pathlib.Path(place, "missing.toml")):
                said = subprocess.run([PROGRAM, "plan", path], capture_output=True, text=True).stderr
                for function in (corelane.plan, corelane.simulate, corelane.sweep):
                    with self.assertRaises(corelane.ScenarioError) as caught:
                        function(path)
                    self.assertEqual("corelane plan: " + str(caught.exception) + "\n", said)
                self.assertIsInstance(caught.exception, ValueError)

    def test_an_error_in_a_dict_names_its_part_in_place_of_a_line(self):
        fine = task("a", "1ms")
        for wrong, said in (
                (scenario(fine, policy={"allocation": "x"}), "<dict>: policy.allocation: expected one of "),
                (scenario(fine, task("b", "1ms"), {"period": "10ms", "budget": 5}), "<dict>, task 3: task.budget: expected a"),
                (scenario(fine, {"period": "10ms"}), "<dict>, task 2: task has no budget; add budget = "),
                (scenario(fine, fine), '<dict>, task 2: a second task has the label "a" of task 1; give it another label'),
                (scenario(task("the one in line 9", "11ms")), '<dict>, task 1: task "the one in line 9": '),
                (scenario(fine, sweep=[{"field": "policy.repack", "values": [True, 1]}]), "<dict>, sweep 1: policy.repack: "),
                ({"platform": BARE}, "<dict>: there is no task; add "), ({"task": []}, "<dict>: there is no task; add ")):
            for function in (corelane.plan, corelane.simulate, corelane.sweep):
                with self.subTest(said), self.assertRaisesRegex(corelane.ScenarioError, "^" + re.escape(said)):
                    function(wrong)

    def test_a_dict_may_contain_what_toml_has(self):
        value = {"a": [1, 2.5, True, "x\"\n\x7fä"], "b": {"c": [{"d": -1}]}, "e": [{"f": 1}, {"g": [2]}], "h": []}
        import tomllib
        self.assertEqual(tomllib.loads(corelane._toml.toml_of(value)), value)
        with self.assertRaisesRegex(TypeError, "a.b is a object; write a text"):
            corelane._toml.toml_of({"a": {"b": object()}})

    def test_a_wrong_type_is_refused(self):
        with self.assertRaisesRegex(TypeError, "the scenario is a int; give a path"):
            corelane.plan(3)

    def test_a_text_that_is_no_utf_8_is_refused(self):
        text = '[[task]]\nlabel = "\ud800"\nperiod = "10ms"\nbudget = "1ms"\n'
        for source, name in ((scenario(task("\ud800", "1ms")), "<dict>"), (text, "<text>"),
                             ("\udcff.toml", "the path of the scenario")):
            with self.assertRaisesRegex(corelane.ScenarioError, f"^{name}: '\\\\ud[8c][0f][0f]' is no character of UTF-8"):
                corelane.plan(source)

    def test_a_path_with_a_nul_is_refused(self):
        with self.assertRaisesRegex(corelane.ScenarioError, r"^'a\\x00b' is no path, because it has a NUL"):
            corelane.plan("a\0b")

    def test_text_that_nests_too_deep_is_refused(self):
        with self.assertRaisesRegex(corelane.ScenarioError, "<text>:1: more than 1000 dots"):
            corelane.plan("a" + ".a" * 2000 + " = 1\n")


if __name__ == "__main__":
    unittest.main(verbosity=2)
