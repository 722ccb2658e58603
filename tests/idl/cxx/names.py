#!/usr/bin/env python3
"""Compiles IDL with names that the surrounding C++ code uses.

    names.py PROGRAM SAMPLE.idl... [--cxx c++] [--keep FOLDER] [--root ROOT]

PROGRAM is corelane-idl. The program finds out four kinds of names; none is listed here:
- macros that the generated headers and those of the library see;
- functions, types and variables that these headers declare outside all namespaces;
- the outermost namespaces of these headers;
- all words of the C++ that is generated from the samples.
Each name is used as an operation, attribute, parameter, member, enumerator, type and module. Names of the second kind
are used outside all modules. The C++ must compile with this project's warnings as errors. Exit status 1 if it does not.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

WARNINGS = "-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror".split()
IDL_TYPES = set("any boolean char double fixed float long module Object octet sequence short string struct union ValueBase void".split())
WORD = re.compile(r"\b[A-Za-z][A-Za-z0-9_]*\b")
TOKEN = re.compile(r'''R"\((?:.|\n)*?\)"|"(?:\\.|[^"\\\n])*"|\.?\d(?:'?[\w.])*|'(?:\\.|[^'\\\n])*'|[A-Za-z_]\w*|[{}=;]''')
KINDS = ("struct _{0} {{ long x_of_{0}; }};", "enum _{0} {{ one_of_{0} }};", "const long _{0} = 1;", "interface _{0} {{ void f_of_{0}(); }};",
         "exception _{0} {{ long x_of_{0}; }};", "typedef long _{0};", "module _{0} {{ const long x_of_{0} = 1; }};",
         "union _{0} switch (long) {{ case 1: long x_of_{0}; }};", "valuetype _{0} {{ public long x_of_{0}; }};",
         "bitmask _{0} {{ bit_of_{0} }};", "local interface _{0} {{ void f_of_{0}(); }};", "abstract interface _{0} {{ void f_of_{0}(); }};")

BRIEF_KINDS = ("const long _{0} = 1;", "typedef long _{0};", "module _{0} {{ const long x_of_{0} = 1; }};", "native _{0};")


def run(command, **more):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **more)
    return done.returncode, done.stdout, done.stderr


def must(command):
    status, out, err = run(command)
    if status != 0:
        sys.exit(f"failed: {' '.join(map(str, command))}\n{out[-2000:]}{err[-4000:]}")
    return out


# Returns lists in which no two words differ only in case, because IDL requires this within a scope.
def scopes_of(words):
    lists = []
    for word in sorted(words):
        fit = next((known for known in lists if word.lower() not in known), None)
        if fit is None:
            fit = {}
            lists.append(fit)
        fit[word.lower()] = word
    return [list(known.values()) for known in lists]


def listed(form, words, separator=" "):
    return separator.join(form.format(word) for word in words)


# Keeps the chunks small: templates with hundreds of parameters take the compiler seconds.
def chunks_of(words, size=25):
    return [words[i:i + size] for i in range(0, len(words), size)]


def state(words, number):
    return f"valuetype AllState{number} {{ {listed('public string _{0};', words)} }};"


def choice(words, number):
    cases = " ".join(f"case {i}: string _{word};" for i, word in enumerate(words))
    return f"union AllChoices{number} switch (long) {{ {cases} }};"


# Uses the words as all kinds of names inside an interface, struct, union, exception, enum or value type.
def inside(module, words):
    chunks = chunks_of(words)
    parameters = "".join(f"void f{i}({listed('in long _{0}', chunk, ', ')});" for i, chunk in enumerate(chunks))
    members = listed("long _{0};", words)
    texts = listed("string _{0};", words)
    return f"""module {module} {{
  interface AllParameters {{ {parameters} }};
  exception AnyFault {{}}; interface AllOperations {{ {listed("void _{0}(in string text) raises (AnyFault);", words)} }};
  interface AllAttributes {{ {listed("attribute string _{0};", words)} }};
  local interface AllNear {{ {listed("long _{0}(in long x);", words)} }};
  abstract interface AllAbstract {{ {listed("long _{0}(in long x);", words)} }};
  interface AllHeir : AllAbstract {{}};
  module AllValues {{ enum AllEnumerators {{ {listed("_{0}", words, ", ")} }}; }};
  struct AllNumbers {{ {members} }};
  struct AllTexts {{ {texts} }};
  @cpp_mapping(STRUCT_WITH_PUBLIC_MEMBERS) struct AllPlain {{ {texts} }};
  exception AllFault {{ {texts} }};
  {"".join(map(choice, chunks, range(len(chunks))))}
  {"".join(state(chunk, i) for i, chunk in enumerate(chunks))}
  valuetype AllServing supports AllOperations {{ {listed("factory new_of_{0}(in string _{0});", words)} }};
  valuetype AllMade {{ {listed("factory _{0}(in long x);", words)} public long state_of_made; }};
}};
"""


# The same in short for macros: no definition can have the name of a macro, of whatever kind it is.
def briefly(module, words):
    chunks = chunks_of(words)
    parameters = "".join(f"void f{i}({listed('in long _{0}', chunk, ', ')});" for i, chunk in enumerate(chunks))
    return f"""module {module} {{
  local interface AllParameters {{ {parameters} {listed("long _{0}();", words)} }};
  enum AllEnumerators {{ {listed("_{0}", words, ", ")} }};
  struct AllNumbers {{ {listed("long _{0};", words)} }};
}};
"""


# Uses the words as types and modules of all kinds, in a module or at file level.
def definitions(words, kinds=KINDS):
    return "\n".join(kinds[i % len(kinds)].format(word) for i, word in enumerate(words)) + "\n"


def nested(module, words):
    kinds = [kind for kind in KINDS if not re.search("interface|module|valuetype", kind)]
    text = "\n".join(kinds[i % len(kinds)].format(word) for i, word in enumerate(words))
    return f"module {module} {{ interface HolderOfAll {{\n{text}\n}}; }};\n"


# Returns the words of preprocessed C++ that may be names outside all namespaces, and those that may be names of namespaces.
# Most words are neither: they stand inside a namespace that has a name.
def outermost_words(text):
    words, spaces = set(), set()
    blocks = []  # for each open brace whether it is that of a namespace with a name
    head = None  # the words between `namespace` and its brace
    inside, is_inline, before = 0, False, ""
    for token in TOKEN.findall(text):
        if token == "{":
            blocks.append(bool(head) and not is_inline)
            inside += blocks[-1]
            head = None
        elif token == "}":
            inside -= blocks.pop()
        elif token in "=;":
            head = None
        elif token == "namespace" and before != "using":
            head, is_inline = [], before == "inline"
        elif WORD.fullmatch(token):
            if head is not None:
                head.append(token)
                spaces.add(token)
            if inside == 0:
                words.add(token)
        before = token
    return words, spaces


class Search:
    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder
        self.options = ["-std=gnu++20", "-I", folder, "-I", arguments.root]
        self.common = ["-include", self.precompile()]

    # Every generated file begins with this header, directly or through others. So none sees more of the library than without.
    def precompile(self):
        header = self.folder / "common.hpp"
        header.write_text('#include "orb/generated.h"\n')
        must([self.arguments.cxx, *self.options, *WARNINGS, "-x", "c++-header", header, "-o", f"{header}.gch"])
        return header

    def generate(self, path, *options):
        must([self.arguments.program, "--extensions", *options, "-I", pathlib.Path(path).parent, "--output-dir", self.folder, path])

    # Makes a file that includes all headers that a program sees.
    def headers(self):
        names = sorted(path.name for path in self.folder.glob("*.h"))
        library = sorted(f"orb/corba/{path.name}" for path in pathlib.Path(self.arguments.root, "orb/corba").glob("*.h"))
        source = self.folder / "headers.cpp"
        source.write_text("".join(f'#include "{name}"\n' for name in names + library))
        return source

    def macros(self, source):
        text = must([self.arguments.cxx, *self.options, "-dM", "-E", source])
        return {name for name in re.findall(r"^#define (\w+)", text, re.M) if not name.startswith("_")}

    # Names each word in a declaration of its own. Words that are not names at namespace level give an error.
    def globals(self, source, macros):
        text = must([self.arguments.cxx, *self.options, "-E", "-P", source])
        words, spaces = (sorted(found - macros) for found in outermost_words(text))
        lines = [f"namespace probe_{i} {{ using ::{word}; }}\n" for i, word in enumerate(words)]
        lines += [f"namespace probe_{i}_of = ::{word};\n" for i, word in enumerate(spaces)]
        probe = self.folder / "probe.cpp"
        probe.write_text(f'#include "headers.cpp"\n#line 1 "probe"\n{"".join(lines)}')
        limit = "-ferror-limit=0" if "clang" in self.arguments.cxx else "-fmax-errors=0"
        _, _, said = run([self.arguments.cxx, *self.options, *self.common, "-fsyntax-only", "-w", limit, probe])
        wrong = {int(line) for line in re.findall(r"^(?:.*/)?probe:(\d+):\d+: error", said, re.M)}
        found = {word for i, word in enumerate(words, 1) if i not in wrong}
        spaces = {word for i, word in enumerate(spaces, len(words) + 1) if i not in wrong}
        if not {"time", "select", "size_t"} <= found or "vector" in found or not {"CORBA", "POA_Messaging"} <= spaces:
            sys.exit(f"the search for global names does not work:\n{said[:2000]}")
        return found, spaces

    # Names that the samples declare prove nothing. But samples also use IDL types and keywords, which are names here.
    def introduced(self):
        texts = [re.sub("//.*", "", pathlib.Path(path).read_text()) for path in self.arguments.samples]
        samples = {word for text in texts for word in WORD.findall(text)}
        words = {word for path in self.folder.iterdir() if path.suffix in (".h", ".cpp") for word in WORD.findall(path.read_text())}
        of_samples = re.compile(f"(POA_|sendc_|set_|get_)?(_cxx_)?({'|'.join(samples - IDL_TYPES)})(_|__|_excep|A?m?i?[CS])?")
        return {word for word in words if not of_samples.fullmatch(word)}

    # Makes few compilations: the library's headers take most of their time.
    def compile(self, number, sources):
        unit = self.folder / f"unit{number}.cpp"
        unit.write_text("".join(f'#include "{source}.cpp"\n' for source in sources))
        must([self.arguments.cxx, *self.options, *self.common, *WARNINGS, "-fsyntax-only", unit])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("samples", nargs="+")
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--keep", default="")
    parser.add_argument("--root", default=str(pathlib.Path(__file__).resolve().parents[3]))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        search = Search(arguments, pathlib.Path(arguments.keep or temporary))
        for sample in arguments.samples:
            search.generate(sample, "--ami")
        introduced = search.introduced()
        source = search.headers()
        macros = search.macros(source)
        outside, spaces = search.globals(source, macros)
        # Leaves out macros that the library's headers use internally. Of the family of system call numbers it takes
        # one.
        macros = {name for name in macros if not name.startswith(("CORELANE_", "SYS_"))} | {"SYS_read"}

        texts = {"inside": "".join(inside(f"AllWords{i}", words) for i, words in enumerate(scopes_of(introduced))) +
                           "".join(briefly(f"AllMacros{i}", words) for i, words in enumerate(scopes_of(macros)))}
        for i, words in enumerate(scopes_of(introduced)):
            texts[f"within{i}"] = f"module AllKinds{i} {{\n{definitions(words)}}};\n" + nested(f"AllNested{i}", words)
        for i, words in enumerate(scopes_of(macros | outside | introduced)):
            briefly_said = [word for word in words if word not in introduced]
            texts[f"outermost{i}"] = definitions(sorted(set(words) & introduced)) + definitions(briefly_said, BRIEF_KINDS)
        # With --ami, because only then the library's Messaging is included.
        texts["spaces"] = definitions(sorted(spaces), ["interface _{0} {{ void f_of_{0}(); }};"])
        texts["within_spaces"] = definitions(
            sorted(spaces), ["module _{0} {{ interface ReplyHandler {{ }}; valuetype ExceptionHolder {{ }}; }};"])
        for name, text in texts.items():
            path = search.folder / f"{name}.idl"
            path.write_text(text)
            with_handlers = ["--ami"] if name in ("inside", "spaces", "within_spaces") else []
            search.generate(path, "-Wno-reuse", "-Wno-keyword", *with_handlers)
        apart = [name for name in texts if name.startswith("outermost")]  # their unnamed types would share a namespace
        lone = ["spaces", "within_spaces"]  # they define the same names
        search.compile(0, [f"{name}C" for name in texts if name not in apart[1:] + lone])
        search.compile(1, [f"{name}S" for name in texts if name not in lone] + ["insideAmiC", "insideAmiS"])
        for name in lone:
            search.compile(f"_{name}", [f"{name}{part}" for part in ("C", "S", "AmiS")])
        for number, name in enumerate(apart[1:]):
            search.compile(number + 2, [f"{name}C"])
        print(f"{len(macros)} macros, {len(outside)} names outside namespaces, {len(introduced)} words of generated code, "
              f"{len(texts)} IDL files")
    return 0


if __name__ == "__main__":
    sys.exit(main())
