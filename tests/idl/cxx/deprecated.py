#!/usr/bin/env python3
"""Checks the effect of @deprecated: warnings where a program uses what is annotated, and none in generated code.

    deprecated.py PROGRAM COMPILER...

PROGRAM is corelane-idl. The C++ of deprecated.idl and deprecated_user.idl, made with --ami, must compile without any of
this project's warnings. deprecated_uses.cpp must get exactly the warnings that its comments say. Exit status 1 if that
does not hold for each COMPILER.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
WARNINGS = "-Wall -Wextra -Wpedantic -Wconversion -Wshadow".split()
# A file comes after those that its own header includes, so that it sees little more than in a compilation of its own.
GENERATED = [f"{name}{part}" for part in ("C", "S", "AmiC", "AmiS") for name in ("deprecated", "deprecated_user")]
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


# Returns the text of the file. The compiler's messages name the file and its lines. It is no #include, because clang does
# not warn of unused variables in included files.
def text_of(path):
    return f'#line 1 "{path.name}"\n{path.read_text()}'


# Compiles all files as one, because the library's headers take most of the time of each compilation.
def faults_of(compiler, out):
    uses, unit = HERE / "deprecated_uses.cpp", out / "unit.cc"
    unit.write_text("".join(text_of(out / f"{name}.cpp") for name in GENERATED) +
                    '#pragma GCC diagnostic ignored "-Wunused-function"\n' + text_of(uses))
    status, said = run([compiler, "-std=c++20", "-fsyntax-only", *WARNINGS, f"-I{ROOT}", f"-I{out}", unit])
    if status != 0:
        return [f"{', '.join(GENERATED)} and {uses.name} do not compile:\n{said[:2000]}"]
    expected = {(number, match[1]) for number, line in enumerate(uses.read_text().splitlines(), 1) if (match := EXPECTED.search(line))}
    found = {(int(match[1]), match[2] or "") for match in FOUND.finditer(said)}
    others = [line for line in said.splitlines() if "warning: " in line and not FOUND.search(line)]
    faults = [f"a warning that is not about a use in {uses.name}: {line}" for line in others]
    faults += [f"{uses.name}:{line}: no warning `{text}`" for line, text in sorted(expected - found)]
    return faults + [f"{uses.name}:{line}: an unexpected warning `{text}`" for line, text in sorted(found - expected)]


def main():
    program, *compilers = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder)
        generate(program, out)
        if sorted(f"{name}.cpp" for name in GENERATED) != sorted(path.name for path in out.glob("*.cpp")):
            sys.exit(f"these files were generated, and others are expected: {' '.join(path.name for path in out.glob('*.cpp'))}")
        faults = [f"{compiler}: {fault}" for compiler in compilers for fault in faults_of(compiler, out)]
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
