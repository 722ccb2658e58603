#!/usr/bin/env python3
"""Counts the instructions of a call with callgrind, and compares them with a baseline.

    instructions.py --program PATH [--baseline FILE] [--calls N] [--renew]

Prints a line for each row and exits 0; exits 1 when a row takes more than 5 % more instructions than the baseline says
(and at least 4), and shows which functions grew. --renew writes what was counted into the baseline instead. Also names the
functions of a plain call that the linker did not put next to the others, because they are not marked [[gnu::hot]].

A baseline belongs to one compiler, version and processor, since each makes other instructions. Without one for this
compiler, without optimization or without valgrind there is nothing to compare: the line begins with SKIPPED.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict, namedtuple

ROWS = ("collocated", "collocated-direct", "plain", "direct")
ALLOWED = 0.05  # allowed growth
FEW = 3  # a growth by so many instructions is always allowed
MEASURED = "corelane_measured_calls"
FUNCTIONS_SHOWN = 15
RENEW = "./dev bench instructions --renew"

# The C library chooses its string functions by the processor's features. The count must not depend on them.
PLAIN_PROCESSOR = "glibc.cpu.hwcaps=" + ",".join(
    "-" + name for name in ("AVX2", "AVX2_Usable", "AVX512F", "AVX512VL", "AVX512BW", "AVX_Fast_Unaligned_Load", "BMI2", "ERMS",
                            "FSRM", "MOVBE", "RTM", "SSE4_1", "SSE4_2", "SSSE3", "Fast_Unaligned_Copy", "Fast_Unaligned_Load"))

# Instructions of one call, in total and by function.
Count = namedtuple("Count", "instructions functions")
# `lines` are printed for people.
Verdict = namedtuple("Verdict", "failed lines")


class Skipped(Exception):
    """There is nothing to compare."""


def parse_callgrind(text):
    """Returns the instructions of a callgrind file: all of them, and those of each function itself."""
    names, own, total = {}, defaultdict(int), None
    function, is_call = None, False

    def name_of(word):
        number, _, name = word.partition(" ")
        if name:
            names[number] = name
        return names.get(number, number)

    for line in text.splitlines():
        if line.startswith("fn="):
            function = name_of(line[3:])
        elif line.startswith("cfn="):
            name_of(line[4:])
        elif line.startswith("calls="):
            is_call = True  # the next line has the cost of the callee
        elif line.startswith(("summary:", "totals:")):
            total = int(line.split()[1])
        elif re.match(r"[+\-*\d]", line):
            if not is_call:
                own[function] += int(line.split()[1])
            is_call = False
    if total is None:
        raise ValueError("the callgrind file has no total")
    return total, dict(own)


def per_call(total, own, calls):
    functions = {name: round(cost / calls, 1) for name, cost in own.items() if cost >= calls}
    return Count(round(total / calls, 1), dict(sorted(functions.items(), key=lambda item: -item[1])))


def grown(before, now):
    """Returns (more, before, now, name) of the functions, those that grew most first. Functions that shrank have
    negative numbers."""
    rows = [(now.get(name, 0) - before.get(name, 0), before.get(name, 0), now.get(name, 0), name)
            for name in before.keys() | now.keys()]
    return sorted((row for row in rows if abs(row[0]) >= 1), key=lambda row: (-row[0], row[3]))


def shortened(name, width=100):
    name = re.sub(r"'\d+$", "", name)
    return name if len(name) <= width else name[:width - 3] + "..."


def table(before, now):
    rows = grown(before, now)
    shown = [row for row in rows if row[0] > 0][:FUNCTIONS_SHOWN] + [row for row in rows if row[0] < 0][-5:]
    return [f"{'before':>10} {'now':>8} {'more':>8}  function"] + [
        f"{old:10.0f} {new:8.0f} {more:+8.0f}  {shortened(name)}" for more, old, new, name in shown]


def judge_row(row, before, now):
    change = round(now.instructions / before.instructions - 1, 6)
    line = f"{row}: {now.instructions:,.0f} instructions a call, {change:+.1%} against the baseline's {before.instructions:,.0f}"
    if change > ALLOWED and now.instructions - before.instructions > FEW:
        return Verdict(True, [f"FAILED: {line}; {ALLOWED:+.0%} is allowed. What grew:"] + table(before.functions, now.functions))
    if change < -ALLOWED:
        line += f"; keep what was gained: {RENEW}"
    return Verdict(False, [line])


def judge(baseline, compiler, counts):
    """Judges `counts` (by row) of that compiler. `baseline`: Counts by compiler and row."""
    if compiler not in baseline:
        known = ", ".join(sorted(baseline)) or "none"
        raise Skipped(f"there is no baseline for {compiler}; there is one for: {known}. {RENEW} makes one")
    verdicts = []
    for row, now in counts.items():
        before = baseline[compiler].get(row)
        if before is None:
            verdicts.append(Verdict(True, [f"FAILED: the baseline of {compiler} has no row '{row}': {RENEW}"]))
        else:
            verdicts.append(judge_row(row, before, now))
    failed = any(verdict.failed for verdict in verdicts)
    lines = [line for verdict in verdicts for line in verdict.lines]
    if failed:
        lines.append(f"If that is worth it, renew the baseline: {RENEW}. Say in the commit what the instructions are for.")
    return Verdict(failed, lines)


def load(path):
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        return {compiler: {row: Count(**count) for row, count in rows.items()} for compiler, rows in json.load(file).items()}


def save(path, baseline):
    plain = {compiler: {row: count._asdict() for row, count in rows.items()} for compiler, rows in sorted(baseline.items())}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(plain, file, indent=1)
        file.write("\n")


def hot_functions(symbols):
    """Returns the names of the functions in the section of hot ones, from what `nm --format=sysv --demangle` prints."""
    rows = [[cell.strip() for cell in line.split("|")] for line in symbols.splitlines()]
    return {name_alone(row[0]) for row in rows if len(row) == 7 and row[6].startswith(".text.hot")}


def name_alone(function):
    """Returns the name without parameters, so that two tools can say it differently."""
    return re.sub(r"\(anonymous namespace\)::", "", re.sub(r"(\[clone [^]]*\]|'\d+)", "", function)).split("(")[0].split(" ")[-1]


def apart(functions, hot):
    """Returns a line about the library's functions of a call that do not lie next to the hot ones; "" if there are none."""
    names = {name for name in map(name_alone, functions) if re.fullmatch(r"corelane::(?!bench::)[\w:~]+", name)}
    names = sorted(names - hot)
    if not names:
        return ""
    return f"not marked [[gnu::hot]], and so apart from the other functions of a plain call: {', '.join(names)}"


def check_places(program, functions):
    """Returns what is to be said about the places of a call's functions in the program; "" if all is well."""
    unchecked = "did not check which functions of a plain call lack [[gnu::hot]]: "
    done = subprocess.run(["nm", "--format=sysv", "--demangle", program], capture_output=True, text=True)
    if done.returncode != 0:
        return f"{unchecked}nm failed: {' '.join(done.stderr.split())}"
    hot = hot_functions(done.stdout)
    return apart(functions, hot) if hot else f"{unchecked}the linker kept no section of hot functions; mold keeps one"


def compiler_of(program):
    compiler = subprocess.run([program, "--compiler"], capture_output=True, text=True, check=True).stdout.strip()
    if compiler.endswith("without optimization"):
        raise Skipped(f"the program was built {compiler}: build it as Release")
    return compiler


def count(program, row, calls):
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "callgrind.out")
        command = ["valgrind", "--tool=callgrind", f"--toggle-collect={MEASURED}", f"--callgrind-out-file={output}", program, row,
                   str(calls)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=240,
                              env=dict(os.environ, GLIBC_TUNABLES=PLAIN_PROCESSOR))
        if done.returncode != 0:
            raise SystemExit(f"instructions: {' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        with open(output, encoding="utf-8") as file:
            return per_call(*parse_callgrind(file.read()), calls)


def main(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--baseline", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "baseline.json"))
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--renew", action="store_true")
    options = parser.parse_args(words)
    try:
        if not shutil.which("valgrind"):
            raise Skipped("valgrind is not installed (Debian: valgrind)")
        compiler, baseline = compiler_of(options.program), load(options.baseline)
        if not options.renew and compiler not in baseline:
            judge(baseline, compiler, {})
        counts = {row: count(options.program, row, options.calls) for row in ROWS}
        if options.renew:
            save(options.baseline, {**baseline, compiler: counts})
            verdict = Verdict(False, [f"{row}: {now.instructions:,.0f} instructions a call" for row, now in counts.items()])
        else:
            verdict = judge(baseline, compiler, counts)
    except Skipped as reason:
        print(f"SKIPPED: {reason}")
        return 0
    places = check_places(options.program, counts["plain"].functions)
    print("\n".join(verdict.lines + ([places] if places else [])))
    return 1 if verdict.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
