#!/usr/bin/env python3
"""Finds the tests of folders and files, for `./dev test FOLDER...`.

    folders.py BUILD LABELS PATH ...      prints the targets that these tests need, and a pattern for `ctest -R`

A path is a folder or file of the tests or of the product: tests/orb/core/server, orb/cdr/reader.h. LABELS is a regular
expression; only tests with such a label count. CMake writes the table BUILD/tests/folders.txt. Each line has the name of a
folder, a label, and the targets that are needed by tests with this label, whose names begin with "FOLDER: ".
"""
import glob
import os
import re
import sys
import textwrap
from collections import namedtuple

Folder = namedtuple("Folder", "name label targets")
BY_FILE = ("unit", "concurrent")  # labels of programs of which CTest knows each source file as one test


class NoTests(Exception):
    pass


def read_table(build):
    with open(os.path.join(build, "tests/folders.txt"), encoding="utf-8") as table:
        return [Folder(name, label, targets) for name, label, *targets in map(str.split, table)]


def files_of(path):
    """Returns the test files of a folder, or of a file: `reader.h` and `reader_test.cpp` give tests/.../reader_test.cpp."""
    stem, ending = os.path.splitext(path)
    if ending in (".h", ".cpp"):
        return glob.glob(f"tests/{stem.removesuffix('_test')}_test.cpp")
    return sorted(glob.glob(f"tests/{path}/**/*_test.cpp", recursive=True))


def includes_suite(file):
    with open(file, encoding="utf-8") as text:
        return re.search(r'#include "[^"]*_suite\.h"', text.read()) is not None


def select(table, path):
    """Returns the lines of the table that the path needs, and patterns of the names of its tests."""
    name = os.path.normpath(path).removeprefix("tests/")
    below = [folder for folder in table if f"{folder.name}/".startswith(f"{name}/")]
    if below:
        return below, [f"^{folder.name}: " for folder in below]
    home = max((folder.name for folder in table if name.startswith(f"{folder.name}/")), key=len, default="")
    above = [folder for folder in table if folder.name == home]
    files = files_of(name)
    if above and not files:
        raise NoTests(f"{path} has no tests of its own: `./dev test {home}` runs those of the folder above")
    if not any(folder.label in BY_FILE for folder in above):
        return above, [f"^{home}: "]
    stems = [os.path.basename(file).removesuffix(".cpp") for file in files]
    stems += ["suites"] if any(map(includes_suite, files)) else []  # the test of all cases that stand in headers
    return above, [f"^{home}: {stem}$" for stem in stems]


def select_all(table, labels, paths):
    """Returns the targets that all paths need, and one pattern of the names of their tests."""
    def counts(folder):
        return re.search(labels, folder.label)

    targets, patterns = [], []
    for path in paths:
        folders, names = select(table, path)
        if not any(map(counts, folders)):
            known = " ".join(sorted({folder.name for folder in filter(counts, table)}))
            raise NoTests(f"{path} has no tests in this build. Name another folder, or a file of one:\n" + textwrap.fill(
                known, 100, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False))
        targets += [target for folder in filter(counts, folders) for target in folder.targets]
        patterns += names
    return list(dict.fromkeys(targets)), "|".join(dict.fromkeys(patterns))


def main(arguments):
    build, labels, *paths = arguments
    try:
        targets, pattern = select_all(read_table(build), labels, paths)
    except NoTests as reason:
        print(f"dev: test: {reason}", file=sys.stderr)
        return 2
    print(*targets)
    print(pattern)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
