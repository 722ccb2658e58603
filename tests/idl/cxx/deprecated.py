#!/usr/bin/env python3
"""Checks the effect of @deprecated: warnings where a program uses what is annotated, and none in generated code.

    deprecated.py PROGRAM COMPILER...

PROGRAM is corelane-idl. The C++ of deprecated.idl and deprecated_user.idl, made with --ami, must compile with this
project's warnings as errors. deprecated_uses.cpp must get exactly the warnings that its comments say. Exit status 1 if
that does not hold for each COMPILER.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
WARNINGS = "-Wall -Wextra -Wpedantic -Wconversion -Wshadow".split()
FOUND = re.compile(r"deprecated_uses\.cpp:(\d+):\d+: warning: .* is deprecated(?:: (.*))? \[-Wdeprecated-declarations\]")
EXPECTED = re.compile(r"// WARNS: ?(.*)$")


def run(command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"})
    return done.returncode, done.stdout + done.stderr


def generate(program, out):
    for name in ("deprecated.idl", "deprecated_user.idl"):
        status, said = run([program, "--ami", "-I", HERE, "--output-dir", out, HERE / name])
        if status != 0 or said:
            sys.exit(f"{name}: {said}")


def faults_of(compiler, out):
    command = [compiler, "-std=c++20", "-fsyntax-only", *WARNINGS, f"-I{ROOT}", f"-I{out}"]
    faults = []
    for source in sorted(out.glob("*.cpp")):
        status, said = run([*command, "-Werror", source])
        if status != 0:
            faults.append(f"{source.name} does not compile without a warning:\n{said[:2000]}")
    uses = HERE / "deprecated_uses.cpp"
    status, said = run([*command, "-Wno-unused-function", uses])
    if status != 0:
        return [*faults, f"{uses.name} does not compile:\n{said[:2000]}"]
    expected = {(number, match[1]) for number, line in enumerate(uses.read_text().splitlines(), 1) if (match := EXPECTED.search(line))}
    found = {(int(match[1]), match[2] or "") for match in FOUND.finditer(said)}
    if said.count("warning: ") != len(FOUND.findall(said)):
        faults.append(f"{uses.name} has other warnings, too:\n{said[:2000]}")
    faults += [f"{uses.name}:{line}: no warning `{text}`" for line, text in sorted(expected - found)]
    return faults + [f"{uses.name}:{line}: an unexpected warning `{text}`" for line, text in sorted(found - expected)]


def main():
    program, *compilers = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder)
        generate(program, out)
        faults = [f"{compiler}: {fault}" for compiler in compilers for fault in faults_of(compiler, out)]
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
