#!/usr/bin/env python3
"""Compiles random inheritance graphs: interfaces (plain, abstract, local) and value types that support them.

    inheritance.py PROGRAM [--texts N] [--graphs N] [--seed S] [--cxx c++] [--keep FOLDER]

Each text contains that many graphs, each in a module of its own. Its C++, made with --ami, is compiled with this
project's warnings as errors, together with a program. The program implements each servant, local object, value and
handler. It calls each inherited operation by its plain name on stubs, servants and values, and converts references to
all bases. A text that the compiler refuses is written to a file and counted. Exit status 1 if any C++ fails, or if more
than a tenth of the texts is refused.
"""
import argparse
import os
import pathlib
import random
import subprocess
import sys
import tempfile

WARNINGS = "-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror".split()
TOGETHER = (("graphsC", "graphsS", "graphsAmiS"), ("graphsAmiC", "program"))
THEMES = (
    ("abstract", "plain", "plain"),
    ("abstract", "plain", "local"),
    ("abstract", "plain", "abstract valuetype", "valuetype"),
    ("plain", "abstract valuetype", "abstract valuetype", "valuetype"),
    ("abstract", "plain", "local", "abstract valuetype", "valuetype", "custom valuetype"),
)
INTERFACES = ("abstract", "plain", "local")


class Node:
    def __init__(self, name, kind):
        self.name, self.kind = name, kind
        self.bases, self.supports = [], []
        self.operation = self.attribute = self.state = ""

    def is_value(self):
        return self.kind not in INTERFACES

    def parents(self):
        return self.bases + self.supports

    def ancestors(self):
        found = []
        for parent in self.parents():
            for node in parent.ancestors() + [parent]:
                if node not in found:
                    found.append(node)
        return found

    def family(self):
        return self.ancestors() + [self]


class Graph:
    """Nodes, each after its bases."""

    def __init__(self, name, source, oddity):
        self.name, self.random, self.oddity = name, source, oddity
        self.nodes = []
        kinds = source.choice(THEMES)
        for index in range(source.randint(5, 9)):
            self.add(Node(f"N{index}", source.choice(kinds)))

    # Chooses bases, mostly so that none is a base of another. Then they may have a common base.
    def some(self, kinds, most):
        known = [node for node in self.nodes if node.kind in kinds]
        self.random.shuffle(known)
        chosen = []
        for node in known:
            related = any(node in other.family() or other in node.family() for other in chosen)
            if len(chosen) < most and (not related or self.random.random() < 0.2):
                chosen.append(node)
        return chosen[: self.random.choice((0, 1, 2, 2, 3))]

    # Returns "", a new name, or sometimes the name of another class or function.
    def member(self, stem, node, probability):
        if self.random.random() > probability:
            return ""
        names = [f"{prefix}{index}" for prefix in ("N", "sendc_f_N") for index in range(9) if f"N{index}" != node.name]
        return self.random.choice(names) if self.random.random() < self.oddity else f"{stem}_{node.name}"

    def add(self, node):
        node.operation = self.member("f", node, 0.8)
        node.attribute = self.member("a", node, 0.4)
        if node.is_value():
            self.add_value_bases(node)
        else:
            allowed = INTERFACES[: INTERFACES.index(node.kind) + 1]
            node.bases = self.some(allowed, 3)
        self.nodes.append(node)

    def add_value_bases(self, node):
        node.bases = self.some(("abstract valuetype",), 2)
        if node.kind != "abstract valuetype":
            stateful = ("valuetype",) if node.kind == "valuetype" else ("valuetype", "custom valuetype")
            node.bases = self.some(stateful, 1) + node.bases
            node.state = self.member("s", node, 0.6)
        node.supports = self.some(("plain",), 1) if not concrete_supports(node) else derived_support(self, node)
        node.supports += self.some(("abstract",), 2)

    def idl(self):
        return f"module {self.name} {{\n" + "".join(map(declaration, self.nodes)) + "};\n"


def concrete_supports(node):
    return [other for other in node.ancestors() if other.kind == "plain"]


# A value may support an interface that is derived from all interfaces that its bases support.
def derived_support(graph, node):
    have = set(concrete_supports(node))
    fit = [other for other in graph.nodes if other.kind == "plain" and have <= set(other.family())]
    return graph.random.sample(fit, min(len(fit), graph.random.randint(0, 1)))


def declaration(node):
    words = {"plain": "interface", "abstract": "abstract interface", "local": "local interface"}
    text = f"  {words.get(node.kind, node.kind)} {node.name}"
    text += " : " + ", ".join(base.name for base in node.bases) if node.bases else ""
    text += " supports " + ", ".join(base.name for base in node.supports) if node.supports else ""
    text += " {"
    text += f" long {node.operation}(in long x);" if node.operation else ""
    text += f" attribute long {node.attribute};" if node.attribute else ""
    text += f" public long {node.state}; private long private_{node.state};" if node.state else ""
    return text + " };\n"


def calls(node):
    return [(of.operation, "x") for of in node.family() if of.operation] + \
           [(of.attribute, "") for of in node.family() if of.attribute]


# A class uses its own name, and those of its bases, for constructors.
def callable_by_name(node):
    return [(call, argument) for call, argument in calls(node) if call not in [of.name for of in node.family()]]


def implementation(node, name, base):
    text = f"struct {name} : public virtual {base} {{\n"
    for call, argument in calls(node):
        text += f"  std::int32_t {call}({'std::int32_t x' if argument else ''}) override {{ return {argument or '1'}; }}\n"
        text += "" if argument else f"  void {call}(std::int32_t) override {{}}\n"
    if any(of.kind == "custom valuetype" for of in node.family()):
        text += "  void marshal(CORBA::DataOutputStream::_ref_type) override {}\n"
        text += "  void unmarshal(CORBA::DataInputStream::_ref_type) override {}\n"
    return text + f"}};\nstatic_assert(!std::is_abstract_v<{name}>);\n"


# Returns whether one of the interfaces that it supports derives from all others.
def is_servant(node):
    supported = {one for of in node.family() if of.is_value() for parent in of.supports for one in parent.family()}
    supported = {one for one in supported if one.kind == "plain"}
    return any(supported <= set(one.family()) for one in supported)


def servant_of(node, impl, cxx):
    text = f"struct {impl}_Servant final : {impl}, virtual CORBA::servant_traits<{cxx}>::base_type {{\n"
    text += implementation(node, "", "").split("{", 1)[1].rsplit("static_assert", 1)[0]
    return text + f"static_assert(!std::is_abstract_v<{impl}_Servant>);\n"


def use_of(node, cxx):
    text = f"[[maybe_unused]] void use({cxx}& one) {{\n  (void)one;\n"
    for call, argument in callable_by_name(node):
        text += f"  one.{call}({argument and '1'});\n" + ("" if argument else f"  one.{call}(1);\n")
    return text + "}\n"


def conversions(node, cxx, module):
    text = f"[[maybe_unused]] void convert(const IDL::traits<{cxx}>::ref_type& one) {{\n  (void)one;\n"
    for base in node.ancestors():
        if not node.is_value() or base.is_value() or base.kind == "abstract":
            text += f"  IDL::traits<{module}::{base.name}>::ref_type as_{base.name} = one;\n  (void)as_{base.name};\n"
    return text + "}\n"


def program_of(graph, node):
    cxx, impl = f"{graph.name}::{node.name}", f"Impl_{graph.name}_{node.name}"
    text = use_of(node, cxx) + conversions(node, cxx, graph.name)
    if node.kind == "local":
        text += implementation(node, impl, f"IDL::traits<{cxx}>::base_type")
    if node.is_value() and node.kind != "abstract valuetype":
        text += implementation(node, impl, f"IDL::traits<{cxx}>::obv_type")
        text += servant_of(node, impl, cxx) if is_servant(node) else ""
    if node.kind != "plain":
        return text
    text += f"static_assert(!std::is_abstract_v<{cxx}>);\n" + use_of(node, f"POA_{cxx}")
    text += implementation(node, impl, f"CORBA::servant_traits<{cxx}>::base_type")
    text += f"template class POA_{graph.name}::_tie_of_{node.name}<{cxx}>;\n"
    return text + use_of_handler(graph, node, cxx)


def use_of_handler(graph, node, cxx):
    handler = f"{graph.name}::AMI_{node.name}Handler"
    text = f"template class POA_{graph.name}::_tie_of_AMI_{node.name}Handler<{handler}>;\n"
    text += f"static_assert(!std::is_abstract_v<CORBA::servant_traits<{handler}>::tie_type<{handler}>>);\n"
    text += f"[[maybe_unused]] void send(const CORBA::amic_traits<{cxx}>::ref_type& to, "
    text += f"const CORBA::amic_traits<{cxx}>::replyhandler_ref_type& handler) {{\n  (void)to;\n  (void)handler;\n"
    operations = [call for call, _ in calls(node)]
    for call, argument in calls(node):
        if f"sendc_{call}" in operations:  # the stub of this operation has another name
            continue
        text += f"  to->sendc_{call}(handler, 1);\n" if argument else \
            f"  to->sendc_get_{call}(handler);\n  to->sendc_set_{call}(handler, 1);\n"
        text += f"  handler->{call if argument else 'get_' + call}(1);\n"
    return text + "}\n"


def program(graphs):
    text = '#include <type_traits>\n#include "graphsAmiC.h"\n#include "graphsAmiS.h"\n#include "graphsS.h"\n'
    text += '#include "orb/corba/custom_marshal.h"\nnamespace {\n'
    body = "".join(program_of(graph, node) for graph in graphs for node in graph.nodes)
    explicit = [line for line in body.splitlines() if line.startswith("template class")]
    rest = [line for line in body.splitlines() if not line.startswith("template class")]
    return text + "\n".join(rest) + "\n}  // namespace\n" + "\n".join(explicit) + "\n"


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


# Returns "refused", "failed" or "fine", and the output.
def attempt(arguments, seed, folder):
    source = random.Random(seed)
    graphs = [Graph(f"G{index}", source, arguments.oddity) for index in range(arguments.graphs)]
    idl = folder / "graphs.idl"
    idl.write_text("".join(graph.idl() for graph in graphs))
    status, said = run([arguments.program, "--ami", "--output-dir", str(folder), str(idl)])
    if status != 0:
        return "refused" if "rename one" in said else "failed", said
    (folder / "program.cpp").write_text(program(graphs))
    sources = []
    for index, names in enumerate(TOGETHER):
        sources.append(folder / f"unit{index}.cpp")
        sources[-1].write_text("".join(f'#include "{name}.cpp"\n' for name in names))
    for path in sources:
        status, said = run([arguments.cxx, "-std=c++20", *WARNINGS, "-fsyntax-only", "-I", arguments.root, "-I", str(folder), str(path)])
        if status != 0:
            return "failed", said
    return "fine", ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--texts", type=int, default=1)
    parser.add_argument("--graphs", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--oddity", type=float, default=0.0)
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--keep", default="")
    parser.add_argument("--root", default=str(pathlib.Path(__file__).resolve().parents[3]))
    arguments = parser.parse_args()
    counts = {"fine": 0, "refused": 0, "failed": 0}
    for seed in range(arguments.seed, arguments.seed + arguments.texts):
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(arguments.keep or temporary)
            verdict, said = attempt(arguments, seed, folder)
            counts[verdict] += 1
            if verdict != "fine":
                print(f"seed {seed} {verdict}:\n" + "\n".join([l for l in said.splitlines() if "error" in l][:3]), flush=True)
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.items()))
    return 1 if counts["failed"] or 10 * counts["refused"] > arguments.texts else 0


if __name__ == "__main__":
    sys.exit(main())
