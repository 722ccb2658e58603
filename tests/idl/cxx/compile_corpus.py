#!/usr/bin/env python3
"""Compiles every IDL file of a folder to C++, and that to object code with this project's warnings as errors.

    compile_corpus.py PROGRAM FOLDER [-I DIR]... [-D NAME]... [--root ROOT] [--only NAME] [--cxx c++] [--check]

PROGRAM is corelane-idl, ROOT the source tree (for orb/*.h). With --check the compiler only checks the C++ and makes no
object code. Prints one line per file that fails, and at the end the counts and the seconds that the C++ took. Exit
status 1 if anything failed.
"""
import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile
import time

WARNINGS = "-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror".split()


def run(command):
    start = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr, time.monotonic() - start


def first_error(text):
    lines = [line for line in text.splitlines() if "error" in line]
    return lines[0] if lines else text.strip().splitlines()[-1] if text.strip() else "no message"


def compile_idl(arguments, path, out):
    includes = [option for folder in arguments.includes for option in ("-I", folder)]
    includes += [option for name in arguments.defines for option in ("-D", name)]
    return run([arguments.program, *includes, "--output-dir", out, str(path)])


def compile_cxx(arguments, source, out):
    manner = ["-fsyntax-only"] if arguments.check else ["-O1", "-c", "-o", os.devnull]
    return run([arguments.cxx, "-std=c++20", *WARNINGS, *manner, "-I", arguments.root, "-I", out, str(source)])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("folder")
    parser.add_argument("-I", dest="includes", action="append", default=[])
    parser.add_argument("-D", dest="defines", action="append", default=[])
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--root", default=str(pathlib.Path(__file__).resolve().parents[3]))
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()

    with tempfile.TemporaryDirectory() as out:
        failed = 0
        files = sorted(p for p in pathlib.Path(arguments.folder).rglob("*.idl") if arguments.only in p.name)
        for path in files:
            status, text, _ = compile_idl(arguments, path, out)
            if status != 0:
                failed += 1
                print(f"{path.name}: {first_error(text)}", flush=True)
        sources = sorted(s for s in pathlib.Path(out).rglob("*.cpp"))
        seconds = 0.0
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            results = pool.map(lambda s: (s, *compile_cxx(arguments, s, out)), sources)
            for source, status, text, spent in results:
                seconds += spent
                if status != 0:
                    failed += 1
                    print(f"{source.name}: {first_error(text)}", flush=True)
        print(f"{len(files)} IDL files, {len(sources)} C++ files in {seconds:.1f} s of compiling, {failed} failed")
    return 1 if failed or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
