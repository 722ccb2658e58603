// Names, scopes, inheritance, constants and repository ids: the rules, and the resulting model.
#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/idl/compile_text.h"

using namespace corelane::idl;
using corelane::idl::test::Compiler;
using corelane::idl::test::faults_of;

namespace {

Compiler& compiled(Compiler& compiler, std::string text) {
  compiler.compile(std::move(text));
  REQUIRE(compiler.faults() == "");
  return compiler;
}

template <typename T>
T value_of(const std::string& expression, const std::string& type) {
  Compiler compiler;
  compiled(compiler, "enum Colour { red, green };\nconst long seven = 7;\nconst " + type + " c = " + expression + ";");
  return std::get<T>(compiler.body<Constant>("c").value);
}

std::string fault_of_constant(const std::string& type, const std::string& expression) {
  return faults_of("enum Colour { red, green }; enum Other { blue };\nconst " + type + " c = " + expression + ";");
}

}  // namespace

TEST_CASE("a struct keeps its members in order with resolved types") {
  Compiler c;
  compiled(c, "typedef sequence<string> Names; struct S { long a, b; Names all; sequence<octet> bytes; };");
  const auto& members = c.body<Structure>("S").members;
  REQUIRE(members.size() == 4);
  CHECK(members[1].name == "b");
  CHECK(c.model[members[0].type].kind == TypeKind::int32);
  CHECK(c.model[members[2].type].kind == TypeKind::alias);
  CHECK(c.model.resolved(members[2].type).kind == TypeKind::sequence);
  CHECK(c.model[c.model.resolved(members[3].type).element].kind == TypeKind::octet);
}

TEST_CASE("equal anonymous types are one type") {
  Compiler c;
  compiled(c, "struct S { sequence<long> a; sequence<long> b; sequence<short> c; };");
  const auto& members = c.body<Structure>("S").members;
  CHECK(members[0].type == members[1].type);
  CHECK(members[0].type != members[2].type);
}

TEST_CASE("a reopened module is a second definition that sees the first") {
  Compiler c;
  compiled(c, "module M { struct A { long x; }; }; module M { struct B { A one; }; };");
  REQUIRE(c.model.contents.size() == 2);
  CHECK_FALSE(std::get<Module>(c.model[c.model.contents[0]].body).reopened);
  CHECK(std::get<Module>(c.model[c.model.contents[1]].body).reopened);
  CHECK(c["M::B"].scope == c.model.contents[1]);
}

TEST_CASE("an interface lists all its ancestors once and before itself") {
  Compiler c;
  compiled(c, "interface A { void f(); }; interface B : A {}; interface C : A {}; interface D : B, C {};");
  const auto& d = c.body<Interface>("D");
  CHECK(d.bases.size() == 2);
  REQUIRE(d.ancestors.size() == 3);
  CHECK(c.model[d.ancestors[0]].name == "A");
  CHECK(c.model[d.ancestors[1]].name == "B");
  CHECK(c.model[d.ancestors[2]].name == "C");
}

TEST_CASE("operations and attributes keep directions and exceptions") {
  Compiler c;
  compiled(c,
           "exception E { long code; }; interface I { long f(in long a, out string b, inout I c) raises (E);\n"
           "oneway void g(in octet a); readonly attribute long r raises (E); attribute long w setraises (E); };");
  const auto& interface = c.body<Interface>("I");
  REQUIRE(interface.operations.size() == 2);
  const Operation& f = interface.operations[0];
  CHECK(f.parameters[1].direction == Direction::out);
  CHECK(f.parameters[2].direction == Direction::inout);
  CHECK(c.model[f.parameters[2].type].kind == TypeKind::interface);
  CHECK(f.raises == std::vector<DefId>{c["E"].type == TypeId::none ? f.raises.at(0) : DefId::none});
  CHECK(c.model[f.raises[0]].name == "E");
  CHECK(interface.operations[1].oneway);
  REQUIRE(interface.attributes.size() == 2);
  CHECK(interface.attributes[0].readonly);
  CHECK(interface.attributes[0].get_raises.size() == 1);
  CHECK(interface.attributes[1].set_raises.size() == 1);
}

TEST_CASE("forward declarations lead to the definition") {
  Compiler c;
  compiled(c,
           "interface I; struct N; typedef sequence<N> Ns; struct N { Ns children; I owner; }; interface I { void f(in "
           "N one); };");
  CHECK(c.body<Structure>("N").recursive);
  const auto& forward = std::get<Forward>(c.model[c.model.contents[0]].body);
  CHECK(c.model[forward.target].name == "I");
  CHECK(c.model[forward.target].kind() == DefinitionKind::interface);
}

TEST_CASE("a struct may hold itself through a sequence") {
  Compiler c;
  compiled(c, "struct N { long a; sequence<N> children; }; struct M { sequence<N> ns; };");
  CHECK(c.body<Structure>("N").recursive);
  CHECK_FALSE(c.body<Structure>("M").recursive);
}

TEST_CASE("an escaped name loses its underscore") {
  Compiler c;
  compiled(c, "interface _interface { void _out(in long _in); };");
  CHECK(c["interface"].repository_id == "IDL:interface:1.0");
  CHECK(c.body<Interface>("interface").operations[0].name == "out");
}

TEST_CASE("names of older IDL that newer IDL reserves are free") {
  CHECK(faults_of("typedef octet uint8; struct S { uint8 map; long port; long home; string alias; };") == "");
}

TEST_CASE("names resolve from the inside out and through bases") {
  CHECK(faults_of("module M { typedef long T; module N { typedef T U; typedef M::T V; typedef ::M::N::U W; }; };") ==
        "");
  CHECK(faults_of("interface A { typedef long T; }; interface B : A { T f(in B::T a, in A::T c); };") == "");
  CHECK(faults_of("enum E { a, b }; module M { const E c = a; const E d = ::b; };") == "");
}

// Constants.

TEST_CASE("integer expressions follow precedence") {
  struct Case {
    const char* expression;
    std::int64_t value;
  };
  const Case c =
      GENERATE(Case{"1 + 2 * 3", 7}, Case{"(1 + 2) * 3", 9}, Case{"7 / 2", 3}, Case{"-7 / 2", -3}, Case{"-7 % 3", -1},
               Case{"1 << 4 | 1", 17}, Case{"0xF0 >> 4", 15}, Case{"6 ^ 3 & 2", 4}, Case{"~5", -6}, Case{"- - 5", 5},
               Case{"+5", 5}, Case{"seven * seven", 49}, Case{"10 - 4 - 3", 3}, Case{"017", 15}, Case{"0", 0});
  CAPTURE(c.expression);
  CHECK(value_of<std::int64_t>(c.expression, "long long") == c.value);
}

TEST_CASE("constants reach the ends of their types and no further") {
  struct Case {
    const char* type;
    const char* low;
    const char* high;
    const char* below;
    const char* above;
  };
  const Case c =
      GENERATE(Case{"octet", "0", "255", "-1", "256"}, Case{"int8", "-128", "127", "-129", "128"},
               Case{"short", "-32768", "32767", "-32769", "32768"}, Case{"unsigned short", "0", "65535", "-1", "65536"},
               Case{"long", "-2147483648", "2147483647", "-2147483649", "2147483648"},
               Case{"unsigned long", "0", "4294967295", "-1", "4294967296"});
  CAPTURE(c.type);
  CHECK(fault_of_constant(c.type, c.low) == "");
  CHECK(fault_of_constant(c.type, c.high) == "");
  for (const char* bad : {c.below, c.above})
    CHECK(fault_of_constant(c.type, bad)
              .find(std::string(bad) + " is outside the range of `" + c.type + "` (" + c.low + " to " + c.high + ")") !=
          std::string::npos);
}

TEST_CASE("constants of 64 bits reach their ends") {
  CHECK(value_of<std::int64_t>("-9223372036854775808", "long long") == std::numeric_limits<std::int64_t>::min());
  CHECK(value_of<std::uint64_t>("18446744073709551615", "unsigned long long") ==
        std::numeric_limits<std::uint64_t>::max());
  CHECK(value_of<std::uint64_t>("~0", "unsigned long") == 0xffff'ffffu);
  CHECK(fault_of_constant("unsigned long long", "18446744073709551615 + 1").find("does not fit in 64 bits") !=
        std::string::npos);
  CHECK(fault_of_constant("long long", "1 << 63 << 63").find("does not fit in 64 bits") != std::string::npos);
}

TEST_CASE("constants of other types keep their values") {
  CHECK(value_of<double>("1.5 + 2.0 * 2.0", "double") == 5.5);
  CHECK(value_of<double>("-1e-3", "float") == -1e-3);
  CHECK(value_of<bool>("TRUE", "boolean"));
  CHECK(value_of<char>("'\\n'", "char") == '\n');
  CHECK(value_of<char>("'\\xe4'", "char") == static_cast<char>(0xe4));
  CHECK(value_of<char>("'\\0'", "char") == '\0');
  CHECK(value_of<std::string>("\"a\\t\" \"\\\"b\\\"\"", "string") == "a\t\"b\"");
  CHECK(value_of<EnumeratorRef>("green", "Colour").index == 1);
}

TEST_CASE("a constant that names another refers to it") {
  Compiler c;
  compiled(c, "const long a = 1; const long b = a; const long d = a + 0;");
  CHECK(c.model[c.body<Constant>("b").refers_to].name == "a");
  CHECK(c.body<Constant>("d").refers_to == DefId::none);
}

TEST_CASE("an exception that is listed twice counts once and is warned about") {
  Compiler c;
  c.compile("exception E {}; interface I { void f() raises (E, E); };");
  CHECK(c.faults() == "1:51: warning: `E` is listed twice");
  CHECK(c.body<Interface>("I").operations[0].raises.size() == 1);
}

TEST_CASE("inheritance of any shape is looked through once") {
  std::string lattice = "interface A0 { typedef long T; }; interface B0 : A0 {};\n";
  std::string chain = lattice;
  for (int i = 1; i < 60; ++i) {
    const std::string to = std::to_string(i);
    const std::string bases = " : A" + std::to_string(i - 1) + ", B" + std::to_string(i - 1) + " {};\n";
    lattice.append("interface A").append(to).append(bases).append("interface B").append(to).append(bases);
  }
  for (int i = 1; i < 1000; ++i)
    chain.append("interface A").append(std::to_string(i)).append(" : A").append(std::to_string(i - 1)).append(" {};\n");
  CHECK(faults_of(lattice + "interface Z : A59 { T f(); };") == "");
  CHECK(faults_of(lattice + "interface Z : A59 { Missing f(); };") == "120:21: `Missing` is not declared");
  CHECK(faults_of(chain) == "502:18: inheritance is nested too deeply");
}

TEST_CASE("an error type raises no second error") {
  CHECK(faults_of("typedef Gone T; typedef sequence<T> U; struct S { U a; }; interface I { T f(in U a); };") ==
        "1:9: `Gone` is not declared");
  CHECK(faults_of("const long a = 1 / 0; const long b = a + 1;") == "1:20: division by zero");
}

// Repository ids.

TEST_CASE("prefixes hold to the end of their scope and of their file") {
  Compiler c;
  c.with("inc.idl", "struct Inc0 { long a; };\n#pragma prefix \"inc\"\nmodule Inc { struct S { long a; }; };\n");
  compiled(c,
           "struct A { long x; };\n#pragma prefix \"P1\"\nmodule M1 {\n  typedef long T1;\n#pragma prefix \"P2\"\n"
           "  module M2 {\n#pragma prefix \"P3\"\n    typedef long T2;\n  };\n  typedef long T3;\n};\n"
           "#include \"inc.idl\"\nstruct B { long x; };\n#pragma prefix \"\"\nstruct C { long x; };");
  CHECK(c["A"].repository_id == "IDL:A:1.0");
  CHECK(c["M1"].repository_id == "IDL:P1/M1:1.0");
  CHECK(c["M1::T1"].repository_id == "IDL:P1/M1/T1:1.0");
  CHECK(c["M1::M2"].repository_id == "IDL:P2/M2:1.0");
  CHECK(c["M1::M2::T2"].repository_id == "IDL:P3/T2:1.0");
  CHECK(c["M1::T3"].repository_id == "IDL:P2/T3:1.0");
  CHECK(c["Inc0"].repository_id == "IDL:Inc0:1.0");
  CHECK(c["Inc::S"].repository_id == "IDL:inc/Inc/S:1.0");
  CHECK(c["B"].repository_id == "IDL:P1/B:1.0");
  CHECK(c["C"].repository_id == "IDL:C:1.0");
}

TEST_CASE("pragmas set ids and versions") {
  Compiler c;
  compiled(c,
           "module M { interface A {};\n#pragma ID A \"LOCAL:mine\"\n interface B {};\n};\n#pragma version M::B 2.3\n");
  CHECK(c["M::A"].repository_id == "LOCAL:mine");
  CHECK(c["M::B"].repository_id == "IDL:M/B:2.3");
}

TEST_CASE("pragmas for what is not there are refused") {
  CHECK(faults_of("#pragma ID A \"IDL:A:1.0\"\n") == "1:1: `A` is not declared, so this has no effect");
  CHECK(faults_of("interface A {};\n#pragma ID A \"nothing\"\n") ==
        "2:1: a repository id has the form \"format:text\"");
}

// Sizes and depths.

TEST_CASE("structs may stand 500 deep in one another and no deeper") {
  const auto chain = [](int length) {
    std::string text = "struct s0 { long a; };\n";
    for (int i = 1; i < length; ++i)
      text += "struct s" + std::to_string(i) + " { s" + std::to_string(i - 1) + " a; };\n";
    return text;
  };
  CHECK(faults_of(chain(501)) == "");
  CHECK(faults_of(chain(502)) == "502:20: types are nested too deeply");
}

TEST_CASE("depth counts through names for sequences, arrays, unions and base structs") {
  std::string sequences = "typedef long t0;\n", arrays = sequences, unions = "struct t0 { long a; };\n";
  std::string bases = unions;
  for (int i = 1; i < 600; ++i) {
    const std::string self = "t" + std::to_string(i), other = "t" + std::to_string(i - 1);
    sequences += "typedef sequence<" + other + "> " + self + ";\n";
    arrays += "typedef " + other + " " + self + "[1];\n";
    unions += "union " + self + " switch (long) { case 1: " + other + " a; };\n";
    if (i < 400) bases += "struct " + self + " : " + other + " { long a" + std::to_string(i) + "; };\n";
  }
  CHECK(faults_of(sequences).starts_with("502:24: types are nested too deeply"));
  CHECK(faults_of(arrays).starts_with("502:14: types are nested too deeply"));
  CHECK(faults_of(unions).find("types are nested too deeply") != std::string::npos);
  CHECK(faults_of(bases) == "");
}

TEST_CASE("a struct that holds itself through a sequence is as deep as the rest of it") {
  CHECK(faults_of(
            "struct S; typedef sequence<S> All; struct S { All inner; long a; }; struct T { S one; All others; };") ==
        "");
}

TEST_CASE("structs that hold one another several times may not grow beyond all memory") {
  const auto tree = [](int length) {
    std::string text = "struct s0 { long a; };\n";
    for (int i = 1; i < length; ++i) {
      const std::string inner = "s" + std::to_string(i - 1);
      text += "struct s" + std::to_string(i) + " { " + inner + " a, b, c, d; };\n";
    }
    return text;
  };
  CHECK(faults_of(tree(23)) == "");
  CHECK(faults_of(tree(24)) == "24:8: a value of this type takes more memory than a process can have (128 TiB)");
}

TEST_CASE("__FILE__ is the path of the file that it stands in, also in a macro") {
  Compiler c;
  c.with("inc.idl", "#define HERE __FILE__\nconst string included = __FILE__;\n");
  compiled(
      c,
      "#include \"inc.idl\"\nconst string own = __FILE__; const string by_macro = HERE; const string plain = \"/0\";");
  const auto text = [&](const std::string& name) { return std::get<std::string>(c.body<Constant>(name).value); };
  CHECK(text("included") == "inc.idl");
  CHECK(text("own") == "t.idl");
  CHECK(text("by_macro") == "t.idl");
  CHECK(text("plain") == "/0");
}

TEST_CASE("a pair of UTF-16 in a wide string is one character, half of one stays what it is") {
  CHECK(value_of<std::u32string>("L\"\\ud83d\\ude00\"", "wstring") == U"\U0001F600");
  CHECK(value_of<std::u32string>("L\"\\ud83d\\ude00\"", "wstring<1>") == U"\U0001F600");
  const std::u32string halves = {0xDE00, 0xD83D, 'a', 0xD83D};
  CHECK(value_of<std::u32string>("L\"\\ude00\\ud83da\\ud83d\"", "wstring") == halves);
  CHECK(value_of<char32_t>("L'\\ud800'", "wchar") == char32_t{0xD800});
}

TEST_CASE("the complement of a negative number is that of its bits in an unsigned type, too") {
  CHECK(value_of<std::uint64_t>("~(-1)", "unsigned long") == 0);
  CHECK(value_of<std::uint64_t>("~(-1)", "octet") == 0);
  CHECK(value_of<std::uint64_t>("~(-1)", "unsigned long long") == 0);
  CHECK(value_of<std::uint64_t>("~(-256)", "octet") == 255);
  CHECK(value_of<std::uint64_t>("~~5", "unsigned short") == 5);
  CHECK(value_of<std::int64_t>("~(-1)", "long") == 0);
  CHECK(fault_of_constant("octet", "~(-257)").find("is outside the range of `octet`") != std::string::npos);
  CHECK(fault_of_constant("octet", "~256").find("is outside the range of `octet`") != std::string::npos);
}

TEST_CASE("a complement that is shifted keeps ones at the upper end") {
  CHECK(value_of<std::uint64_t>("~0 << 8", "unsigned long") == 0xFFFFFF00);
  CHECK(value_of<std::uint64_t>("~0 << 63", "unsigned long long") == std::uint64_t{1} << 63);
  CHECK(value_of<std::uint64_t>("~3 << 1", "octet") == 0xF8);
  CHECK(value_of<std::int64_t>("~0 << 8", "long") == -256);
}

TEST_CASE("a literal is rounded before it is compared with the largest float") {
  CHECK(value_of<double>("3.40282356e38", "float") == double{std::numeric_limits<float>::max()});
  CHECK(value_of<double>("-3.4028235e38", "float") == double{std::numeric_limits<float>::lowest()});
}

TEST_CASE("text that is included inside a definition belongs to the file of that definition") {
  Compiler c;
  c.with("part.idl", "struct Part { long x; };\n").with("whole.idl", "struct Whole { long x; };\n");
  c.with("both.idl", "struct Both { long x; };\n");
  compiled(
      c,
      "#include \"whole.idl\"\n#include \"both.idl\"\nmodule M {\n#include \"part.idl\"\n#include \"both.idl\"\n};\n");
  CHECK(c["Whole"].file != FileId::main);
  CHECK(c["Both"].file != FileId::main);
  CHECK(c["M::Part"].file == FileId::main);
  CHECK(c["M::Both"].file == FileId::main);
  for (const File& file : c.model.files)
    if (file.path == "part.idl") CHECK_FALSE(file.generates_code);
  CHECK(c.model[c["Both"].file].generates_code);
  CHECK(c.model.files[0].include_lines == std::vector<std::uint32_t>{1, 2, 4});
}
