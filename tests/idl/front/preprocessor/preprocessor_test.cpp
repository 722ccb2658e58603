// Preprocessing: macros, includes, conditions, and the limits around the preprocessing library.
#include "idl/front/preprocessor/preprocessor.h"

#include <catch2/catch.hpp>
#include <string>

#include "idl/front/expand.h"
#include "tests/idl/compile_text.h"

using namespace corelane::idl;
using corelane::idl::test::Compiler;
using corelane::idl::test::faults_of;

TEST_CASE("an included file is compiled where it is included") {
  Compiler compiler;
  REQUIRE(
      compiler.with("a.idl", "struct A { long x; };\n").compile("#include \"a.idl\"\nstruct B { A one; };").faults() ==
      "");
  CHECK(compiler["A"].file == FileId{1});
  CHECK(compiler["B"].file == FileId::main);
  CHECK(compiler.model.files[0].includes == std::vector<FileId>{FileId{1}});
  CHECK(compiler.model.files[1].include_path == "a.idl");
  CHECK_FALSE(compiler.model.files[1].is_main);
}

TEST_CASE("a file is read once and guarded by macros or pragma once") {
  const std::string guarded =
      GENERATE("#ifndef G\n#define G\nstruct A { long x; };\n#endif\n", "#pragma once\nstruct A { long x; };\n");
  Compiler compiler;
  compiler.with("a.idl", guarded).with("b.idl", "#include <a.idl>\n");
  CHECK(compiler.compile("#include \"a.idl\"\n#include <b.idl>\nstruct B { A one; };").faults() == "");
}

TEST_CASE("macros and conditions work") {
  CHECK(faults_of("#define NAME(x) My##x\n#define N 3\n#if N > 2 && defined(__CORELANE_IDL__)\n"
                  "struct NAME(Type) { long a; };\n#else\n#error not here\n#endif\nstruct B { MyType m; };") == "");
}

TEST_CASE("macros of the command line are defined and undefined") {
  Compiler compiler;
  compiler.options.defines = {"A", "B=2", "C=3"};
  compiler.options.undefines = {"C"};
  CHECK(compiler.compile("#ifdef C\n#error C\n#endif\n#if A + B == 3\nconst long x = B;\n#else\n#error no\n#endif")
            .faults() == "");
  CHECK(std::get<std::int64_t>(compiler.body<Constant>("x").value) == 2);
}

TEST_CASE("text that is skipped may be no IDL at all") {
  CHECK(faults_of("#if 0\ndon't parse \"this\n#include <>\n#pragma\n#endif\nstruct S { long a; };") == "");
}

TEST_CASE("_Pragma is an escaped name wherever it stands, and no operator") {
  CHECK(faults_of("interface _Pragma { void f(); };\nmodule A { interface I { void _Pragma(in long x); }; };\n"
                  "module B { interface I { ::_Pragma g(in long _Pragma); }; struct S { ::Pragma p; }; };\n"
                  "module C { struct S { long _Pragma; }; struct _Pragmatic { long x; }; enum E { _Pragma }; };\n"
                  "module D { const long a = 1; const long _Pragma = ::D::a; const long b = _Pragma + _Pragma; };") ==
        "");
  CHECK(faults_of("#ifdef _Pragma\n#error no\n#endif\n#define M(x) x\nstruct M(_Pragma) { M(_Pragma) *; };") ==
        "5:32: expected a name, found `*`");
  CHECK(faults_of("#define _Pragma Other\nstruct _Pragma { long a; };\nstruct B { Other o; };") == "");
  CHECK(faults_of("_Pragma(\"once\")\n") == "1:1: expected a definition, found `_Pragma`");
  CHECK(faults_of("struct _Pragm$ { long a; };\n").starts_with("1:8: `$` has no meaning in IDL"));
  CHECK(faults_of("#error _Pragma\n") == "1:1: #error: _Pragma");
  Compiler compiler;
  REQUIRE(compiler
              .compile("#define TEXT(x) #x\nconst string a = TEXT(_Pragma);\nconst string b = \"_Pragma _Pragm$\";\n"
                       "const wstring c = L\"_Pragm$\";")
              .faults() == "");
  CHECK(std::get<std::string>(compiler.body<Constant>("a").value) == "_Pragma");
  CHECK(std::get<std::string>(compiler.body<Constant>("b").value) == "_Pragma _Pragm$");
  CHECK(std::get<std::u32string>(compiler.body<Constant>("c").value) == U"_Pragm$");
}

TEST_CASE("places in a line stay right behind comments and macros") {
  CHECK(faults_of("/* one */ struct /* two */ S { long; };") == "1:36: expected a name, found `;`");
  CHECK(faults_of("#define T long\nstruct S { T; };") == "2:13: expected a name, found `;`");
  CHECK(faults_of("struct S { \\\n long; };") == "2:6: expected a name, found `;`");
}

TEST_CASE("a fault in an included file names that file") {
  Compiler compiler;
  compiler.with("a.idl", "\nstruct A { long };\n").compile("#include \"a.idl\"\n");
  CHECK(compiler.faults() == "a.idl:2:17: expected a name, found `}`");
}

TEST_CASE("line directives do not move places") {
  CHECK(faults_of("#line 100 \"x.idl\"\nstruct S { long };") == "2:17: expected a name, found `}`");
}

TEST_CASE("line markers of another preprocessor are skipped") {
  CHECK(faults_of("# 1 \"a.idl\"\n#2 \"b.idl\" 1 3\n  # 7\nstruct S { long };") == "4:17: expected a name, found `}`");
}

TEST_CASE("preprocessed text can be preprocessed again") {
  Compiler compiler;
  compiler.with("a.idl", "struct A { long x; };\n").compile("#include \"a.idl\"\n\nstruct B { A one; };");
  REQUIRE(compiler.faults() == "");
  const std::string text = expand(compiler.front.tokens, compiler.sources, {});
  REQUIRE(text.find("# 1 \"") != std::string::npos);
  CHECK(faults_of(text) == "");
}

TEST_CASE("a macro of an included file does not make its user's definitions foreign") {
  Compiler compiler;
  compiler.with("m.idl", "#define BEGIN module Shared {\n#define NAME Thing\n");
  REQUIRE(compiler.compile("#include \"m.idl\"\nBEGIN struct NAME { long a; }; };").faults() == "");
  CHECK(compiler["Shared::Thing"].file == FileId::main);
}

TEST_CASE("the embedded file declares the annotations and makes no code") {
  Compiler compiler;
  REQUIRE(compiler.compile("#include <corelane/rt.idl>\nstruct S { long a; };").faults() == "");
  CHECK(compiler.model.contents.size() == 1);
  CHECK_FALSE(compiler.model.files[1].generates_code);
  CHECK(compiler.model.files[1].include_path == "corelane/rt.idl");
}

TEST_CASE("text without annotations is what another compiler can read") {
  Compiler compiler;
  compiler.with("a.idl", "#pragma prefix \"a\"\nstruct A { @key long x; };\n");
  compiler.compile(
      "#include <corelane/rt.idl>\n#include \"a.idl\"\n@annotation N { long a; };\ninterface I {\n"
      "  @rt::task(period = \"1ms\", budget = \"1us\") void f(@N(a=1) in A one);\n};");
  REQUIRE(compiler.faults() == "");
  CHECK(expand(compiler.front.tokens, compiler.sources, {.strip_annotations = true}) ==
        "# 1 \"t.idl\"\n# 1 \"a.idl\" 1\n#pragma prefix \"a\"\nstruct A {      long x; };\n# 4 \"t.idl\" 2\n"
        "interface I {\n                                            void f(        in A one);\n};\n");
}

// Errors.

TEST_CASE("orb.idl is part of the compiler unless the user has one") {
  Compiler ours;
  CHECK(ours.compile("#include <orb.idl>\nstruct S { CORBA::StringSeq a; };").faults() == "");
  CHECK(ours["CORBA::StringSeq"].repository_id == "IDL:omg.org/CORBA/StringSeq:1.0");
  Compiler theirs;
  theirs.with("orb.idl", "module CORBA { typedef long Mine; };\n")
      .compile("#include <orb.idl>\nconst CORBA::Mine a = 1;");
  CHECK(theirs.faults() == "");
  CHECK(faults_of("interface I { CORBA::TCKind f(in CORBA::TypeCode a); };") == "");
  CHECK(faults_of("interface I { CORBA::StringSeq f(); };") == "1:15: `CORBA` is not declared");
}

TEST_CASE("a missing include is an error at the directive") {
  CHECK(faults_of("struct S { long a; };\n  #include <none.idl>\n") == "2:3: cannot include `none.idl`: no such file");
}

TEST_CASE("a missing main file is an error") {
  Compiler compiler;
  compiler.front = run_front(compiler.sources, compiler.loader, "none.idl", {}, compiler.diagnostics);
  CHECK(compiler.faults() == "-: cannot open `none.idl`: no such file");
}

TEST_CASE("faulty directives are errors") {
  struct Case {
    const char* text;
    const char* message;
  };
  const Case c = GENERATE(
      Case{"#include <>\n", "1:1: #include expects \"file\" or <file>"},
      Case{"#include\n", "1:1: #include expects \"file\" or <file>"},
      Case{"#include \"\"\n", "1:1: #include expects \"file\" or <file>"},
      Case{"#error stop here\n", "1:1: #error: stop here"}, Case{"#warning look\n", "1:1: warning: #warning: look"},
      Case{"#if 1\n", "1:1: this condition lacks its #endif"},
      Case{"#endif\n", "the #if for this directive is missing"}, Case{"#elif\n@a\n", "1:1: this #elif has no #if"},
      Case{"#if 1 +\n#endif\n", "ill formed preprocessor expression"}, Case{"#if 1/0\n#endif\n", "division by zero"},
      Case{"#define\n", "ill formed preprocessor directive"},
      Case{"#define F(x) x\nF(1\n", "improperly terminated macro invocation"},
      Case{"/* no end\nstruct", "1:1: this comment is never closed"},
      Case{"struct \x01 S", "1:8: stray control character in the text"},
      Case{"const string s = \"a\r#pragma\rb\";\n", "1:18: stray control character in this literal"},
      Case{"#include <a\r#pragma\r>\n", "1:1: cannot include `a #pragma `"});
  CAPTURE(c.text);
  const std::string faults = faults_of(c.text);
  CAPTURE(faults);
  CHECK(faults.find(c.message) != std::string::npos);
  CHECK(faults.find('\n') == std::string::npos);
}

TEST_CASE("a bare pragma means nothing") { CHECK(faults_of("#pragma\nstruct S { long a; };") == ""); }

TEST_CASE("a macro of the command line must be one") {
  Compiler compiler;
  compiler.options.defines = {"1=2"};
  CHECK(compiler.compile("").faults() == "-: -D expects NAME or NAME=text, not `1=2`");
}

TEST_CASE("macros of the command line that contradict one another are faults of the command line") {
  CHECK_FALSE(fault_of({.defines = {"A", "A=1", "B=2"}, .undefines = {"A"}, .limits = {}}));
  CHECK(fault_of({.defines = {"A", "A=2"}, .undefines = {}, .limits = {}}) == "-D defines `A` twice, with other texts");
  CHECK(fault_of({.defines = {"__LINE__=2"}, .undefines = {}, .limits = {}}) ==
        "-D cannot define `__LINE__`: the name is reserved");
  CHECK(fault_of({.defines = {}, .undefines = {"1"}, .limits = {}}) == "-U expects NAME, not `1`");
}

// Texts that try to exhaust the compiler.

namespace {

std::string doubling_macros(int levels) {
  std::string text = "#define A0 x\n";
  for (int i = 1; i <= levels; ++i) {
    const std::string before = std::to_string(i - 1);
    text.append("#define A")
        .append(std::to_string(i))
        .append(" A")
        .append(before)
        .append(" A")
        .append(before)
        .append("\n");
  }
  return text.append("A").append(std::to_string(levels)).append("\n");
}

}  // namespace

TEST_CASE("a file that includes itself is stopped") {
  CHECK(faults_of("#include \"t.idl\"\n") == "1:1: #include is nested too deeply");
}

TEST_CASE("includes that double at each level are stopped") {
  Compiler compiler;
  for (int i = 0; i < 40; ++i) {
    std::string next("#include \"f");
    next.append(std::to_string(i + 1)).append(".idl\"\n");
    compiler.with(std::string("f").append(std::to_string(i)).append(".idl"), next + next);
  }
  compiler.with("f40.idl", "\n").compile("#include \"f0.idl\"\n");
  CHECK(compiler.faults().find("too many files are included") != std::string::npos);
}

TEST_CASE("a macro bomb is stopped") {
  const std::string faults = faults_of(doubling_macros(40));
  CHECK(faults.find("macro") != std::string::npos);
}

TEST_CASE("a chain of macros is stopped") {
  std::string text = "#define A0 x\n";
  for (int i = 1; i < 5000; ++i)
    text.append("#define A").append(std::to_string(i)).append(" A").append(std::to_string(i - 1)).append("\n");
  CHECK(faults_of(text.append("A4999\n")).find("macros are nested too deeply") != std::string::npos);
}

TEST_CASE("a condition nested without end is stopped, written out or by macros") {
  const std::string deep(100'000, '(');
  CHECK(faults_of("#if " + deep + "\n#endif\n") == "1:205: parentheses are nested too deeply");
  const std::string operators(100'000, '!');
  CHECK(faults_of("#if " + operators + "\n#endif\n") == "1:1: the condition is nested too deeply");
  const std::string macros = "#define P ((((((((((((((((((((((((((((((\n#define Q P P P P P P\n#if Q 1\n#endif\n";
  CHECK(faults_of(macros) == "3:1: the condition is nested too deeply");
}

TEST_CASE("conditions inside one another without end are stopped at the first that is too deep") {
  const auto nested = [](int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += "#if 1\n";
    for (int i = 0; i < count; ++i) text += "#endif\n";
    return text;
  };
  CHECK(faults_of(nested(256)) == "");
  CHECK(faults_of(nested(100'000)) == "257:1: conditions are nested too deeply");
}

TEST_CASE("an expression that never ends is stopped before it is preprocessed") {
  std::string text = "const long x = 1";
  for (int i = 0; i < 100'000; ++i) text += "+1";
  CHECK(faults_of(text + ";") == "1:20017: the expression is too long or nested too deeply");
}

TEST_CASE("macro calls nested without end are stopped") {
  std::string call = "#define F(x) x\n";
  for (int i = 0; i < 100'000; ++i) call += "F(";
  CHECK(faults_of(call).find("parentheses are nested too deeply") != std::string::npos);
}

TEST_CASE("an unterminated comment of 10 MB is one error") {
  CHECK(faults_of("struct S { long a; };\n/*" + std::string(10 << 20, '*')) == "2:1: this comment is never closed");
}

TEST_CASE("a comment of several lines does not end its directive, also with an empty line") {
  CHECK(faults_of("#define A /* 1\n\n\n 2 */ \\\n 1\nconst long b = A; const long c = a;") ==
        "6:34: `a` is not declared");
  CHECK(faults_of("#if 1 /* a\n*/ && \\\n0\n#error no\n#else /*\n\n*/ remark\nconst long b = a;\n#endif") ==
        "8:16: `a` is not declared");
  CHECK(faults_of("#if defined /*\n*/ true\n#error no\n#endif\nconst long b = a;") == "5:16: `a` is not declared");
}

TEST_CASE("a backslash joins lines that end with a carriage return, and the last line") {
  CHECK(faults_of("#\\\r\ndefine A \\\r\n 1\r\nconst long b = A; const long c = a;\r\n") ==
        "4:34: `a` is not declared");
  CHECK(faults_of("const long a = 1;\\") == "");
  CHECK(faults_of("#define A 1\\\n") == "");
}

TEST_CASE("endless copying by the preprocessor is stopped") {
  CHECK(faults_of("const string s = \"" + std::string(10 << 20, 'x')) == "1:18: this literal is too long");
  CHECK(faults_of("const char c = '" + std::string(10 << 20, 'x')) == "1:16: this literal is too long");
  CHECK(faults_of("#pragma " + std::string(1 << 17, 'x')) == "1:1: this #pragma is too long");
  CHECK(faults_of(std::string(1'000'001, '\n')) == "1000001:1: the text has too many lines");
  CHECK(faults_of(std::string(10 << 20, '#')) == "1:1048577: the line is too long");
  CHECK(faults_of("#define F(x)\nF(" + std::string(1'000'000, ',')) == "2:10002: too many arguments");
  std::string open = "#define F(x)\nF(";
  for (int i = 0; i < 1'000'000; ++i) open += "a;\n";
  CHECK(faults_of(open) == "2:2: this parenthesis is still open after 256 KiB");
  std::string conditions = "#if 0\n";
  for (int i = 0; i < 300'000; ++i) conditions += "#elif 0\n";
  CHECK(faults_of(conditions + "#endif\n") == "20001:1: the file has too many conditions");
}

TEST_CASE("a comment of 10 MB is fine") {
  CHECK(faults_of("/*" + std::string(10 << 20, 'x') + "*/ struct S { long a; };") == "");
}

TEST_CASE("a division in a condition that no integer holds is an error and no signal") {
  const char* operation = GENERATE("/", "%");
  const std::string text = "(-9223372036854775807-1)" + std::string(operation) + "-1";
  CHECK(faults_of("#if " + text + "\n#endif\n") == "1:1: integer overflow in preprocessor expression: " + text);
}
