#!/usr/bin/env python3
"""Summarizes several test runs: what failed, what was skipped and why, which tests used a real omniORB, and a closing
line.

    report.py junit=RUN:FILE ... step=NAME:passed|failed ...

A run of CTest is a JUnit file. Each test in it is a Catch2 test case, or all test cases of one source file. A missing
file counts as one failure, so that a run that died is reported. Exits 1 if anything failed or nothing ran.
"""
import re
import sys
import xml.etree.ElementTree as xml
from collections import Counter, namedtuple

Outcome = namedtuple("Outcome", "run name state reason")

# CTest counts a test as skipped as soon as it prints "SKIPPED: ", even if it fails afterwards.
FAILED_ANYWAY = re.compile(r"^(test cases:.*\d+ failed|.*FAILED:|.*(Address|Leak|Thread|UndefinedBehavior)Sanitizer)", re.M)


# The last line of Catch2. The number is that of the test cases that ran in this process.
ALL_PASSED = re.compile(r"^All tests passed \(.* in (\d+) test cases?\)", re.M)
NONE_RAN = re.compile(r"^No tests ran", re.M)  # of a source file whose test cases are in a header
SKIPPED = re.compile(r"SKIPPED: (.*)")


def outcomes_of_case(run, case):
    text = "".join(part.text or "" for part in case.iter("system-out"))
    name, status = case.get("name", "?"), case.get("status")
    reasons = [reason.strip() for reason in SKIPPED.findall(text)]
    if case.find("failure") is not None or status == "fail":
        return [Outcome(run, name, "failed", "")]
    if case.find("skipped") is not None or status in ("notrun", "disabled"):
        if not reasons or FAILED_ANYWAY.search(text):
            return [Outcome(run, name, "failed", "did not run")]
        return [Outcome(run, name, "skipped", reasons[0])]
    if NONE_RAN.search(text):
        return []
    closing = ALL_PASSED.search(text)
    ran = max(int(closing.group(1)) if closing else 1, len(reasons))
    return [Outcome(run, name, "skipped", reason) for reason in reasons] + \
        [Outcome(run, name, "passed", "")] * (ran - len(reasons))


def outcomes_of(argument):
    kind, _, rest = argument.partition("=")
    name, _, value = rest.rpartition(":")
    if kind == "step":
        return [Outcome("steps", name, value, "")]
    try:
        cases = list(xml.parse(value).iter("testcase"))
    except (OSError, xml.ParseError) as fault:
        return [Outcome(name, f"the whole run ({fault})", "failed", "no result")]
    return [outcome for case in cases for outcome in outcomes_of_case(name, case)] or [Outcome(name, "the whole run", "failed", "ran no test")]


def show(title, lines):
    if lines:
        print(title)
        for line in lines:
            print(f"  {line}")
        print()


def report(arguments):
    outcomes = [outcome for argument in arguments for outcome in outcomes_of(argument)]
    of = {state: [o for o in outcomes if o.state == state] for state in ("passed", "failed", "skipped")}
    ran = [o for o in dict.fromkeys(outcomes) if "omniorb" in o.name.lower() and o.state != "skipped"]
    show("Tests with a live omniORB that ran:", [f"{o.run}: {o.name}: {o.state}" for o in ran])
    show("Skipped:", [f"{o.run}: {o.name}: {o.reason}" + (f" ({count} cases)" if count > 1 else "")
                      for o, count in Counter(of["skipped"]).items()])
    show("Failed:", [f"{o.run}: {o.name}" + (f" ({o.reason})" if o.reason else "") for o in of["failed"]])
    print(f"{len(of['passed'])} passed, {len(of['failed'])} failed, {len(of['skipped'])} skipped")
    return 1 if of["failed"] or not of["passed"] else 0


if __name__ == "__main__":
    sys.exit(report(sys.argv[1:]))
