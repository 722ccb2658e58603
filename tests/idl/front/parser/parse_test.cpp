// Texts with special bytes, and texts that try to exhaust the parser. tests/idl/sema/diagnostics.txt tests the grammar.
#include <catch2/catch.hpp>
#include <string>

#include "orb/base/sanitizer.h"
#include "tests/idl/compile_text.h"

using namespace corelane::idl;
using corelane::idl::test::Compiler;
using corelane::idl::test::faults_of;

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

TEST_CASE("a comment that only begins like an annotation is a plain comment") {
  for (const char* directive :
       {"//@copy-c #undef ERROR", "//@top-level false", "//@Extensibility MUTABLE_EXTENSIBILITY",
        "//@copy\tenum { one };", "//@rt::task is missing here", "//@key-\r"}) {
    CAPTURE(directive);
    Compiler compiler;
    REQUIRE(compiler.compile("struct S {\n  long a;\n" + std::string(directive) + "\n};").faults() ==
            "3:1: warning: an annotation comment holds annotations alone; this one is a plain comment");
    CHECK(compiler.body<Structure>("S").members[0].annotations.empty());
  }
}

TEST_CASE("parameters, further annotations and comments may follow in an annotation comment") {
  for (const char* comment :
       {"//@key\r", "//@key // why", "//@key /* why */", "//@key @id(3)", "//@::key ", "//@key()"}) {
    CAPTURE(comment);
    Compiler compiler;
    REQUIRE(compiler.compile("struct S {\n" + std::string(comment) + "\nlong a;\n};").faults() == "");
    const auto& annotations = compiler.body<Structure>("S").members[0].annotations;
    REQUIRE_FALSE(annotations.empty());
    CHECK(annotations[0].name == "key");
  }
}

// Errors.

TEST_CASE("bytes that are no ASCII are refused once") {
  CHECK(faults_of("struct S { long \xC3\xA4; };") ==
        "1:17: `\xC3\xA4` has no meaning in IDL\n1:19: expected a name, found `;`");
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

// Texts that try to exhaust the compiler.

namespace {

std::string repeated(const std::string& text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

}  // namespace

TEST_CASE("deep nesting is an error and not a crash") {
  const int deep = CORELANE_ADDRESS_SANITIZER ? 20'000 : 100'000;  // its frames are several times larger
  CHECK(faults_of(repeated("module M {", deep)).find("modules are nested too deeply") != std::string::npos);
  CHECK(faults_of("typedef " + repeated("sequence<", deep)).find("types are nested too deeply") != std::string::npos);
  CHECK(faults_of("typedef long t" + repeated("[2]", deep)).find("types are nested too deeply") != std::string::npos);
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
