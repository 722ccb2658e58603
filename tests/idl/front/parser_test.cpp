// The grammar: what is accepted, and where and how the rest is refused.
#include <catch2/catch.hpp>
#include <string>

#include "tests/idl/compile_text.h"

using namespace corelane::idl;
using corelane::idl::test::Compiler;
using corelane::idl::test::faults_of;

TEST_CASE("the parser accepts every construct of the language") {
  const std::string text = GENERATE(
      "", "module M {};", "module M { module N { const long c = 1; }; };", "interface I {};",
      "interface I; interface I {};", "interface A {}; interface B : A {}; interface C : B, A {};",
      "interface A {}; interface B : ::A {};",
      "interface I { void f(); long g(in long a, out string b, inout double c); };",
      "interface I { oneway void f(in octet o); };", "exception E {}; interface I { void f() raises (E); };",
      "interface I { attribute long a, b; readonly attribute string c; };",
      "exception E {}; interface I { readonly attribute long a raises (E); attribute long b getraises (E) setraises "
      "(E); };",
      "struct S { short a; long b; long long c; unsigned short d; unsigned long e; unsigned long long f; };",
      "struct S { octet a; boolean b; char c; float d; double e; string f; };",
      "struct S { int8 a; uint8 b; int16 c; uint16 d; int32 e; uint32 f; int64 g; uint64 h; };",
      "struct S { sequence<long> a; sequence<sequence<string>> b; };", "struct S { long a, b, c; };",
      "struct A { long x; }; struct B { A one; ::A two; };", "enum E { one }; enum F { a, b, c };",
      "exception E {}; exception F { string why; };", "typedef long T; typedef sequence<T> U, V;",
      "interface I { typedef long T; enum E { x }; struct S { T one; }; exception Broken {}; const long c = 1; void "
      "f(in T "
      "a); };",
      "interface I { sequence<long> f(in sequence<octet> data); };",
      "const long a = -(1 + 2) * ~3 << 4 | 5 & 6 ^ 7 % 8 / 9 - +10 >> 1;",
      "const boolean a = TRUE; const boolean b = FALSE; const char c = 'x'; const string s = \"a\" \"b\";",
      "const octet a = 0xfF; const octet b = 017; const double d = 1.5e3; const double e = .5; const double f = 2.;",
      "struct _struct { long _long; };", "@final struct S { @key long a; @optional @unit(\"m\") double b; };",
      "enum E { @default_literal a, @value(3) b };", "interface I { void f(@range(min=1, max=2) in long a); };",
      "@annotation Note { string text; long level default 1; }; @Note(text=\"x\") struct S { long a; };",
      "#pragma prefix \"a.b\"\nmodule M {\n#pragma other things\n};", "/* a */ module /* b */ M { // c\n};");
  CAPTURE(text);
  CHECK(faults_of(text) == "");
}

TEST_CASE("a missing end of the last line is no error") { CHECK(faults_of("interface I {}; // end") == ""); }

TEST_CASE("a byte-order mark is no error and takes no column") {
  CHECK(faults_of("\xEF\xBB\xBFinterface I {};") == "");
  CHECK(faults_of("\xEF\xBB\xBFinterface 1 {};") == "1:11: expected a name after `interface`, found `1`");
}

TEST_CASE("carriage returns are blanks") {
  CHECK(faults_of("interface I {\r\n};\r\n") == "");
  CHECK(faults_of("#define A \\\r\n 1\r\nconst long c = A;\r\n") == "");
}

TEST_CASE("closing angles may touch") { CHECK(faults_of("typedef sequence<sequence<sequence<long>>> T;") == ""); }

TEST_CASE("a scope mark after an angle is no digraph") {
  CHECK(faults_of("struct A {long x;}; typedef sequence<::A> T;") == "");
}

TEST_CASE("an annotation comment is an annotation") {
  Compiler compiler;
  REQUIRE(compiler.compile("struct S {\n  //@key\n  long a;\n  // @not one\n  long b;\n};").faults() == "");
  const auto& members = compiler.body<Structure>("S").members;
  REQUIRE(members[0].annotations.size() == 1);
  CHECK(members[0].annotations[0].name == "key");
  CHECK(members[1].annotations.empty());
}

// Error paths.

TEST_CASE("the parser says where the text stops being IDL") {
  struct Case {
    const char* text;
    const char* faults;
  };
  const Case c = GENERATE(
      Case{"interface X { void f(in long }; };", "1:30: expected a parameter's name, found `}`"},
      Case{"interface X { void f(in long a; };", "1:31: expected `,` or `)`, found `;`"},
      Case{"interface X { void f(long a); };", "1:22: expected `in`, `out` or `inout`, found keyword `long`"},
      Case{"interface X { void f(in long a) };", "1:33: expected `;`, found `}`"},
      Case{"interface X { long; };", "1:19: expected an operation's name, found `;`"},
      Case{"interface X { 5 };", "1:15: expected an operation, an attribute or `}`, found `5`"},
      Case{"interface X { attribute long; };", "1:29: expected an attribute's name, found `;`"},
      Case{"interface X { readonly long a; };", "1:24: expected `attribute`, found keyword `long`"},
      Case{"interface X { void f() raises (); };", "1:32: expected an exception, found `)`"},
      Case{"interface X : { };", "1:15: expected a base interface, found `{`"},
      Case{"interface X {\n", "1:14: expected `}`, found the end of the file"},
      Case{"interface X {}\n", "1:15: expected `;` after `}`"},
      Case{"struct S { long a }; struct T { long b; };", "1:19: expected `;`, found `}`"},
      Case{"struct S { long }; ", "1:17: expected a name, found `}`"},
      Case{"struct S { long a\n  ; long\n  b c; };", "3:5: expected `;`, found `c`"},
      Case{"struct S { void a; };", "1:12: `void` is only the result of an operation"},
      Case{"enum E { };", "1:10: expected an enumerator, found `}`"},
      Case{"enum E { a, };", "1:11: expected an enumerator after this comma"},
      Case{"enum E { a b };", "1:12: expected `}`, found `b`"},
      Case{"typedef long;", "1:13: expected a name, found `;`"},
      Case{"typedef sequence long T;", "1:18: expected `<`, found keyword `long`"},
      Case{"const long = 1;", "1:12: expected a constant's name, found `=`"},
      Case{"const long c;", "1:13: expected `=`, found `;`"},
      Case{"const long c = ;", "1:16: expected a value, found `;`"},
      Case{"const long c = (1;", "1:18: expected `)`, found `;`"},
      Case{"const long c = 99999999999999999999;", "1:16: `99999999999999999999` does not fit in 64 bits"},
      Case{"const long c = 08;", "1:16: `08` is no number"}, Case{"const long c = 12ab;", "1:16: `12ab` is no number"},
      Case{"const char c = '';", "1:16: a character literal holds one character"},
      Case{"const char c = 'ab';", "1:16: a character literal holds one character"},
      Case{"const char c = '\\q';", "1:16: `\\q` is no escape sequence"},
      Case{"const string c = \"a\\0b\";", "1:18: a string cannot hold the character with value 0"},
      Case{"const string c = \"abc;\n",
           "1:17: expected a value, found the end of the file\n1:18: this string is never closed"},
      Case{"module {};", "1:8: expected a name after `module`, found `{`"},
      Case{"long f();", "1:1: expected a definition, found keyword `long`"},
      Case{"module M {}; }; module N {};", "1:14: this `}` closes nothing"},
      Case{"struct S { long interface; };",
           "1:17: expected a name, found keyword `interface` (write `_interface` to use it as a name)"},
      Case{"struct S { long Interface; };",
           "1:17: `Interface` differs from the keyword `interface` only in case (write `_Interface`)"},
      Case{"struct __S { long a; };", "1:8: `__S` is no name: an underscore escapes the word after it"},
      Case{"struct S { long $a; };", "1:17: `$` has no meaning in IDL"},
      Case{"struct S { long \xC3\xA4; };", "1:17: `\xC3\xA4` has no meaning in IDL\n1:19: expected a name, found `;`"},
      Case{"@key(1 struct S { long a; };", "1:8: expected `,` or `)`, found keyword `struct`"},
      Case{"#pragma prefix nothing\n", "1:1: expected #pragma prefix \"text\""},
      Case{"#pragma version M 1\nmodule M {};", "1:1: expected #pragma version name major.minor"},
      Case{"struct S { long a; }; //@key\n",
           "1:23: an annotation comment stands on a line of its own, before what it annotates"});
  CAPTURE(c.text);
  CHECK(faults_of(c.text) == c.faults);
}

TEST_CASE("one run finds the errors of several declarations") {
  CHECK(faults_of("interface A { void f(in long }; void g(; };\n"
                  "struct S { long; double d; string };\n"
                  "typedef T;\n") ==
        "1:30: expected a parameter's name, found `}`\n"
        "1:40: expected `in`, `out` or `inout`, found `;`\n"
        "2:16: expected a name, found `;`\n"
        "2:35: expected a name, found `}`\n"
        "3:10: expected a name, found `;`");
}

TEST_CASE("components and template modules are refused by name") {
  const std::string what = GENERATE("component C { provides I p; };", "home H manages C {};", "eventtype E { };",
                                    "porttype P { uses I p; };", "connector C { mirrorport P p; };");
  CAPTURE(what);
  CHECK(faults_of(what) == "1:1: `" + what.substr(0, what.find(' ')) +
                               "` is not supported: this compiler has no components, ports or template modules");
  CHECK(faults_of("module M<typename T> { struct S { T x; }; }; struct S { long; };") ==
        "1:8: a template module is not supported\n1:61: expected a name, found `;`");
}

// Texts that want to exhaust the compiler.

namespace {

std::string repeated(const std::string& text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

}  // namespace

TEST_CASE("deep nesting is an error and not a crash") {
  const int deep = 100'000;
  CHECK(faults_of(repeated("module M {", deep)).find("modules are nested too deeply") != std::string::npos);
  CHECK(faults_of("typedef " + repeated("sequence<", deep)).find("types are nested too deeply") != std::string::npos);
  CHECK(faults_of("const long c = " + repeated("(", deep)).find("nested too deeply") != std::string::npos);
  CHECK(faults_of("const long c = " + repeated("-", deep) + "1;").find("nested too deeply") != std::string::npos);
  CHECK(faults_of("const long c = 1" + repeated("+1", deep) + ";").find("the expression is too long") !=
        std::string::npos);
  CHECK(faults_of(repeated("}", deep)).find("closes nothing") != std::string::npos);
}

TEST_CASE("a file of errors ends with a count of those not shown") {
  Compiler compiler;
  compiler.compile(repeated("struct S { long };\n", 1000));
  CHECK(compiler.diagnostics.sorted().size() == Diagnostics::limit);
  CHECK(compiler.diagnostics.dropped() == 1000 - Diagnostics::limit);
  CHECK(render(compiler.diagnostics, compiler.sources).find("... and 950 more that are not shown") !=
        std::string::npos);
}
