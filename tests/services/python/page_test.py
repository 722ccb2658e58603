#!/usr/bin/env python3
"""Runs the programs of docs/python.md, one after the other, and compares what they print with what the page shows.

    page_test.py SOURCE PACKAGES

SOURCE is the root of the source tree. PACKAGES is the folder that contains the built package. Programs that read files
of earlier runs are left out.
"""
import contextlib
import io
import pathlib
import re
import sys

SOURCE, PACKAGES = sys.argv[1:]
sys.path.insert(0, PACKAGES)


def programs_of(page):
    """Returns the programs of the page, each with the output that follows it, or with None."""
    return re.findall(r"^```python\n(.*?)^```\n(?:\n```\n(.*?)^```\n)?", page, re.S | re.M)


def lines_of(text):
    return [line.rstrip() for line in text.splitlines()]


programs = [each for each in programs_of(pathlib.Path(SOURCE, "docs/python.md").read_text()) if ".csv" not in each[0]]
names, compared = {}, 0
for program, shown in programs:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(program, names)
    if shown:
        assert lines_of(printed.getvalue()) == lines_of(shown), f"the page shows\n{shown}\nand this is printed:\n{printed.getvalue()}"
        compared += 1
assert compared >= 2, f"only {compared} outputs were found in the page"
print(len(programs), "programs")
