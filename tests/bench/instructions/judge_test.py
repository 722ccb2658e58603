#!/usr/bin/env python3
"""Tests of the judge of bench/instructions/instructions.py: judge_test.py FOLDER."""
import contextlib
import io
import json
import os
import stat
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, sys.argv.pop(1))
import instructions  # noqa: E402  (the folder is an argument)
from instructions import Count  # noqa: E402

BASELINE = {"GNU 12.2.0 x86_64": {"plain": Count(1000.0, {"parse": 600.0, "send": 400.0}),
                                  "direct": Count(2000.0, {"parse": 2000.0})}}

CALLGRIND = """version: 1
positions: line
events: Ir

fl=(1) a.cpp
fn=(1) corelane_measured_calls
10 1000
+2 500
cfn=(2) corelane::parse(char const*)
calls=100 20
+3 7000
* 500
fn=(2)
20 6000
cfn=(3) memcpy
calls=1 1
21 1000

fn=(3)
1 1000
summary: 9000
totals: 9000
"""


def judged(counts, compiler="GNU 12.2.0 x86_64"):
    return instructions.judge(BASELINE, compiler, counts)


SYMBOLS = """

Symbols from program:

Name                  Value           Class        Type         Size             Line  Section

corelane::giop::(anonymous namespace)::parse(char const*)|0000000000000010|   t  |              FUNC|0000000000000010|     |.text.hot
corelane::core::Call::send(corelane::Bytes)|0000000000000020|   T  |              FUNC|0000000000000010|     |.text
"""


class Apart(unittest.TestCase):
    def test_functions_of_the_library_that_are_not_beside_the_hot_ones_are_named_once(self):
        functions = {"corelane::giop::(anonymous namespace)::parse(char const*)": 5.0, "memcpy": 1.0,
                     "corelane::core::Call::send(corelane::Bytes)": 3.0, "corelane::core::Call::send(corelane::Bytes)'2": 1.0,
                     "corelane::bench::End::id() const": 1.0, "std::unique_ptr<corelane::Job>::~unique_ptr()": 1.0}
        line = instructions.apart(functions, instructions.hot_functions(SYMBOLS))
        self.assertIn("not marked [[gnu::hot]]", line)
        self.assertTrue(line.endswith(": corelane::core::Call::send"), line)

    def test_nothing_is_said_if_all_functions_are_beside_the_hot_ones(self):
        functions = {"corelane::giop::parse(char const*)": 5.0}
        self.assertEqual(instructions.apart(functions, instructions.hot_functions(SYMBOLS)), "")


class Judge(unittest.TestCase):
    def test_growth_by_six_percent_fails_and_shows_what_grew(self):
        verdict = judged({"plain": Count(1060.0, {"parse": 610.0, "send": 400.0, "lock": 50.0})})
        self.assertTrue(verdict.failed)
        text = "\n".join(verdict.lines)
        self.assertIn("plain: 1,060 instructions a call, +6.0% against the baseline's 1,000", text)
        self.assertRegex(text, r" 0 +50 +\+50  lock\n +600 +610 +\+10  parse")
        self.assertNotIn("send", text)
        self.assertIn("./dev bench instructions --renew", text)

    def test_growth_by_four_percent_passes(self):
        self.assertFalse(judged({"plain": Count(1040.0, {"parse": 640.0, "send": 400.0})}).failed)

    def test_growth_by_five_percent_passes_and_a_little_more_fails(self):
        self.assertFalse(judged({"plain": Count(1050.0, {})}).failed)
        self.assertTrue(judged({"plain": Count(1051.0, {})}).failed)

    def test_three_instructions_more_pass_however_few_there_were_and_four_fail(self):
        baseline = {"GNU": {"small": Count(20.0, {})}}
        self.assertFalse(instructions.judge(baseline, "GNU", {"small": Count(23.0, {})}).failed)
        self.assertTrue(instructions.judge(baseline, "GNU", {"small": Count(24.0, {})}).failed)

    def test_one_row_that_grew_fails_beside_others_that_did_not(self):
        verdict = judged({"plain": Count(1000.0, {}), "direct": Count(2200.0, {"parse": 2200.0})})
        self.assertTrue(verdict.failed)
        self.assertEqual(sum(line.startswith("FAILED") for line in verdict.lines), 1)

    def test_fewer_instructions_pass_and_ask_to_be_kept(self):
        verdict = judged({"plain": Count(900.0, {})})
        self.assertFalse(verdict.failed)
        self.assertIn("--renew", verdict.lines[0])

    def test_another_compiler_is_skipped_and_the_known_one_is_named(self):
        with self.assertRaisesRegex(instructions.Skipped, "Clang 16.0.6.*GNU 12.2.0 x86_64"):
            judged({"plain": Count(5000.0, {})}, "Clang 16.0.6 x86_64")

    def test_a_row_that_the_baseline_lacks_fails(self):
        verdict = judged({"new": Count(1.0, {})})
        self.assertTrue(verdict.failed)
        self.assertIn("no row 'new'", verdict.lines[0])


class Callgrind(unittest.TestCase):
    def test_a_function_has_its_own_instructions_without_those_of_its_callees(self):
        total, own = instructions.parse_callgrind(CALLGRIND)
        self.assertEqual(total, 9000)
        self.assertEqual(own, {"corelane_measured_calls": 2000, "corelane::parse(char const*)": 6000, "memcpy": 1000})

    def test_counts_are_of_one_call_and_leave_out_less_than_one_instruction(self):
        count = instructions.per_call(9000, {"often": 8901, "once": 99}, 100)
        self.assertEqual(count, Count(90.0, {"often": 89.0}))

    def test_a_file_without_a_total_is_refused(self):
        with self.assertRaises(ValueError):
            instructions.parse_callgrind("fn=(1) a\n1 2\n")


class Program(unittest.TestCase):
    """The whole program, with scripts in place of valgrind and the measured program."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.baseline = os.path.join(self.folder, "baseline.json")
        self.script("program", 'echo "${COMPILER:-GNU 12.2.0 x86_64}"')
        self.script("valgrind", "\n".join([
            'for word in "$@"; do case $word in --callgrind-out-file=*) out=${word#*=} ;; esac; done',
            'printf "fn=(1) f\\n1 %s000\\ntotals: %s000\\n" "$COST" "$COST" >"$out"']))
        path = mock.patch.dict(os.environ, {"PATH": self.folder + ":/usr/bin:/bin", "COST": "1000"})
        path.start()
        self.addCleanup(path.stop)

    def script(self, name, body):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/bash\n" + body + "\n")
        os.chmod(path, stat.S_IRWXU)

    def run_it(self, *words, **environment):
        with contextlib.redirect_stdout(io.StringIO()) as out, mock.patch.dict(os.environ, environment):
            code = instructions.main(["--program", os.path.join(self.folder, "program"), "--baseline", self.baseline, *words])
        return code, out.getvalue()

    def test_a_renewed_baseline_is_what_later_runs_are_compared_with(self):
        self.assertEqual(self.run_it("--renew")[0], 0)
        self.assertEqual(self.run_it()[0], 0)
        self.assertEqual(self.run_it(COST="1040")[0], 0)
        code, text = self.run_it(COST="1060")
        self.assertEqual(code, 1)
        self.assertIn("+6.0%", text)

    def test_renewing_keeps_the_baselines_of_other_compilers(self):
        self.run_it("--renew")
        self.run_it("--renew", COMPILER="Clang 16.0.6 x86_64", COST="2000")
        with open(self.baseline, encoding="utf-8") as file:
            self.assertEqual(sorted(json.load(file)), ["Clang 16.0.6 x86_64", "GNU 12.2.0 x86_64"])
        self.assertEqual(self.run_it()[0], 0)

    def test_another_compiler_no_optimization_and_no_valgrind_are_skipped_in_a_word(self):
        self.run_it("--renew")
        code, text = self.run_it(COMPILER="GNU 13.1.0 x86_64", COST="9000")
        self.assertEqual((code, text[:9]), (0, "SKIPPED: "))
        code, text = self.run_it(COMPILER="GNU 12.2.0 x86_64 without optimization")
        self.assertEqual((code, text[:9]), (0, "SKIPPED: "))
        code, text = self.run_it(PATH=os.path.join(self.folder, "nowhere"))
        self.assertEqual(code, 0)
        self.assertIn("SKIPPED: valgrind is not installed", text)

    def last_line(self, nm):
        self.script("nm", nm)
        self.script("valgrind", "\n".join([
            'for word in "$@"; do case $word in --callgrind-out-file=*) out=${word#*=} ;; esac; done',
            'printf "fn=(1) corelane::core::Call::send(corelane::Bytes)\\n1 1000000\\ntotals: 1000000\\n" >"$out"']))
        code, text = self.run_it("--renew")
        self.assertEqual(code, 0)
        self.assertNotIn("SKIPPED: ", text)  # CTest would take the whole check for skipped
        return text.splitlines()[-1]

    def test_the_last_line_names_functions_without_the_mark_or_says_why_it_cannot(self):
        self.assertIn("apart from the other functions of a plain call: corelane::core::Call::send",
                      self.last_line("cat <<'END'\n" + SYMBOLS + "END"))
        self.assertRegex(self.last_line("echo"), "^did not check .*: the linker kept no section of hot functions")
        self.assertRegex(self.last_line("echo no such file >&2; exit 1"), "^did not check .*: nm failed: no such file$")

    def test_a_program_that_fails_fails_the_check(self):
        self.run_it("--renew")
        self.script("valgrind", "echo no such row >&2; exit 2")
        with self.assertRaisesRegex(SystemExit, "no such row"):
            self.run_it()


if __name__ == "__main__":
    unittest.main()
