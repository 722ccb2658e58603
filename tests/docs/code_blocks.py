#!/usr/bin/env python3
"""Compiles every C++ block of README.md and docs/, so that no document shows code that does not compile.

    code_blocks.py CORELANE_IDL [--cxx COMPILER] [--include FOLDER ...]

All blocks are one translation unit; those for omniORB are another. Nothing is linked. Each block is put into a
namespace of its own, with its #includes before that. A block with a main() is compiled as it is. Any other block is the
body of a function that has the objects of CONTEXT, or is put between the lines that PLACES contains for it. In a block,
a line of dots marks an omission, as do { ... } for a body and a final ... for a statement.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```cpp\n(.*?)^```$", re.MULTILINE | re.DOTALL)

IDL = """
module Plant {
  struct Point { double x; string name; };
  typedef sequence<double> Samples;
  interface Filter { double next(in double reading); };
};
module M {
  valuetype Node { public string name; public Node next; };
  valuetype Leaf : Node { public long size; };
  union Id;
  struct Pair { long n; @external Id element; };
  union Id switch (octet) { case 1: Pair one; default: long x; };
};
"""

# What a reader knows at that point. One line each, so that the lines of blocks are easy to count.
CONTEXT = """
#include <chrono>
#include <cstdio>
#include <iostream>
#include <mutex>
#include "CosNamingC.h"
#include "orb/channel/channel.h"
#include "orb/core/call_deadline.h"
#include "orb/corba/orb.h"
#include "orb/corba/portable_server.h"
#include "orb/corba/value.h"
#include "orb/os/clock.h"
#include "orb/rt/current.h"
#include "orb/rt/ordinary_thread.h"
#include "orb/rt/resource.h"
#include "orb/rt/rt.h"
#include "plantC.h"
#include "plantS.h"
using namespace std::chrono_literals;
struct Servant : public virtual CORBA::servant_traits<Plant::Controller>::base_type {
  double step(double) override { return 0; }
  void configure(const std::string&) override {}
};
extern CORBA::object_reference<CORBA::ORB> orb;
extern CORBA::object_reference<PortableServer::POA> poa;
extern CORBA::object_reference<CORBA::Object> object;
extern CORBA::object_reference<Plant::Controller> controller;
extern CORBA::servant_reference<Servant> servant;
extern std::string directory;
extern corelane::Bytes message;
extern corelane::Time deadline;
extern corelane::channel::Channel channel;
double refine(double best, double reading);
"""

# Blocks that are not the body of a function, identified by a text in them: the lines before and after them.
PLACES = {
    "double step(double reading) override {\n  const corelane::rt::Current": ("struct Refining : Servant {", "};"),
}


class Block:
    def __init__(self, path, text, line):
        self.where = f"{path.relative_to(ROOT)}:{line}"
        self.text = text
        self.line = line + 1
        self.path = path

    def is_for_omniorb(self):
        return ".hh\"" in self.text

    def includes(self):
        return [line for line in self.text.splitlines() if line.startswith("#include")]

    def body(self):
        lines = ["" if line.startswith("#include") or line.strip() == "..." else line for line in self.text.splitlines()]
        text = re.sub(r"\{ \.\.\. \}", "{}", "\n".join(lines))
        return re.sub(r"\) \.\.\.( |$)", r") {}\1", text, flags=re.MULTILINE)

    def code(self, number):
        body = self.body()
        before, behind = next((place for marker, place in PLACES.items() if marker in body), ("void body() {", "}"))
        if re.search(r"\bint main\(", body):
            body, before, behind = re.sub(r"\bint main\(", "int body(", body), "", ""
        return f'namespace block_{number} {{\n{before}\n#line {self.line} "{self.path}"\n{body}\n{behind}\n}}\n'


def blocks_of(root):
    for path in [root / "README.md", *sorted((root / "docs").glob("*.md"))]:
        text = path.read_text(encoding="utf-8")
        for match in BLOCK.finditer(text):
            yield Block(path, match.group(1), text.count("\n", 0, match.start()) + 1)


def unit(blocks, context):
    includes = sorted({line for block in blocks for line in block.includes()})
    return "\n".join(includes) + "\n" + context + "".join(block.code(number) for number, block in enumerate(blocks))


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(" ".join(command) + "\n" + done.stdout + done.stderr)
    return done.returncode == 0


def compiles(cxx, text, path, options):
    path.write_text(text, encoding="utf-8")
    return run([cxx, "-std=c++20", "-fsyntax-only", "-w", *options, str(path)])


def check_own(arguments, blocks, folder):
    plant = (ROOT / "examples/quickstart/plant.idl").read_text(encoding="utf-8")
    (folder / "plant.idl").write_text(plant + IDL, encoding="utf-8")
    if not run([arguments.idl, "--ami", "--output-dir", str(folder), str(folder / "plant.idl")]):
        return False
    options = [word for include in [str(ROOT), str(folder), *arguments.include] for word in ("-I", include)]
    return compiles(arguments.cxx, unit(blocks, CONTEXT), folder / "blocks.cpp", options)


def check_omniorb(arguments, blocks, folder):
    if shutil.which("omniidl") is None or shutil.which("pkg-config") is None:
        print(f"SKIPPED: {len(blocks)} blocks need omniORB: " + ", ".join(block.where for block in blocks))
        return True
    folder = folder / "omni"
    folder.mkdir()
    plain = subprocess.run([arguments.idl, "-E", "--strip-annotations", str(ROOT / "examples/quickstart/plant.idl")],
                           capture_output=True, text=True, check=True).stdout
    (folder / "plant.idl").write_text(plain, encoding="utf-8")
    if not run(["omniidl", "-bcxx", "-C" + str(folder), str(folder / "plant.idl")]):
        return False
    flags = subprocess.run(["pkg-config", "--cflags", "omniORB4"], capture_output=True, text=True, check=True).stdout
    return compiles(arguments.cxx, unit(blocks, ""), folder / "blocks.cpp", ["-I", str(folder), *flags.split()])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("idl")
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--include", nargs="*", default=[])
    arguments = parser.parse_args()
    blocks = list(blocks_of(ROOT))
    own = [block for block in blocks if not block.is_for_omniorb()]
    others = [block for block in blocks if block.is_for_omniorb()]
    if len(own) < 15 or len(others) < 2:  # the documents have changed, or are not where they were
        print(f"there are {len(own)} blocks and {len(others)} for omniORB, and more are expected")
        return 1
    with tempfile.TemporaryDirectory(prefix="corelane-docs-") as temporary:
        folder = pathlib.Path(temporary)
        good = [check_own(arguments, own, folder), check_omniorb(arguments, others, folder)]
    print(f"{len(own)} blocks, {len(others)} for omniORB: " + ("all compile" if all(good) else "see above"))
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
