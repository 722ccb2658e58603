// The C++ back end: from models built by hand to generated text. tests/idl/roundtrip tests what the text does.
#include "idl/cxx/generate.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "tests/idl/cxx/kitchen.h"
#include "tests/idl/cxx/model_builder.h"

using namespace corelane::idl;
using Catch::Contains;
using corelane::idl::cxx::Options;
using corelane::idl::cxx::OutputFile;
using corelane::idl::test::Kitchen;
using corelane::idl::test::ModelBuilder;

namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class Backend : public ModelBuilder {
 public:
  using ModelBuilder::ModelBuilder;

  std::string client_header() { return output(0); }
  std::string client_source() { return output(1); }
  std::string servant_header() { return output(2); }
  std::string servant_source() { return output(3); }

  const TypeId nothing = basic(TypeKind::void_);
  const TypeId number = basic(TypeKind::int32);

 private:
  std::string output(std::size_t index) { return cxx::generate(model, {}).at(index).text; }
};

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

// The build of this test compiles the kitchen's files with all warnings as errors. After an intended change of the
// output, run this program with CORELANE_WRITE_GOLDEN=1 and check the difference.
TEST_CASE("the kitchen's output is the recorded output") {
  const std::filesystem::path golden = CORELANE_GOLDEN;
  const bool write = std::getenv("CORELANE_WRITE_GOLDEN") != nullptr;
  for (const OutputFile& file : cxx::generate(Kitchen().model(), {})) {
    if (write) std::ofstream(golden / file.path) << file.text;
    CHECK(text_of(golden / file.path) == file.text);
  }
  if (write) FAIL("golden files written");
}

TEST_CASE("no line of the kitchen's output is longer than 120 columns") {
  for (const OutputFile& file : cxx::generate(Kitchen().model(), {})) {
    std::istringstream lines(file.text);
    for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 120);
  }
}

TEST_CASE("output paths mirror the path of the IDL file under its include root") {
  const auto files = cxx::generate(ModelBuilder("plant/control.idl").model, {});
  REQUIRE(files.size() == 4);
  CHECK(files[0].path == "plant/controlC.h");
  CHECK(files[1].path == "plant/controlC.cpp");
  CHECK(files[2].path == "plant/controlS.h");
  CHECK(files[3].path == "plant/controlS.cpp");
  CHECK_THAT(files[1].text, Contains("#include <plant/controlC.h>\n"));
  CHECK_THAT(files[2].text, Contains("#include <plant/controlC.h>\n"));
  CHECK_THAT(files[3].text, Contains("#include <plant/controlS.h>\n"));
}

TEST_CASE("without servants only the client's files are made") {
  const auto files = cxx::generate(ModelBuilder("a.idl").model, Options{.servant = false});
  REQUIRE(files.size() == 2);
  CHECK(files[1].path == "aC.cpp");
}

TEST_CASE("an included IDL file becomes an include of its client header unless it emits no code") {
  Backend b;
  b.include("parts/bar.idl");
  b.structure("Part", {{"size", b.number}});
  b.include("corelane/rt.idl", false);
  b.back_to_main();
  b.constant("two", b.number, std::int64_t{2});
  CHECK_THAT(b.client_header(), Contains("#include \"parts/barC.h\"\n"));
  CHECK_THAT(b.client_header(), !Contains("rtC.h"));
  CHECK_THAT(b.client_header(), !Contains("class Part"));
}

TEST_CASE("a header in a folder includes no header beside it in place of the one that its IDL includes") {
  Backend b("app/t.idl");
  b.include("t.idl");
  const TypeId base = b.open_interface("Base");
  b.close();
  b.back_to_main();
  b.open_interface("Derived", {base});
  b.close();
  CHECK_THAT(b.client_header(), Contains("#include <tC.h>\n"));
  CHECK_THAT(b.servant_header(), Contains("#include <app/tC.h>\n") && Contains("#include <tS.h>\n"));
  CHECK_THAT(b.client_source(), Contains("#include <app/tC.h>\n"));
  CHECK_THAT(b.servant_source(), Contains("#include <app/tS.h>\n"));
}

TEST_CASE("the servant header includes another only for a base interface") {
  Backend b;
  b.include("base.idl");
  const TypeId base = b.open_interface("Base");
  b.close();
  b.back_to_main();
  SECTION("a base of another file") {
    b.open_interface("Derived", {base});
    b.close();
    CHECK_THAT(b.servant_header(), Contains("#include \"baseS.h\""));
    CHECK_THAT(b.servant_header(), Contains("class POA_Derived : public virtual ::POA_Base {"));
  }
  SECTION("a use that is no base") {
    b.open_interface("User");
    b.operation("get", base);
    b.close();
    CHECK_THAT(b.servant_header(), !Contains("baseS.h"));
  }
}

TEST_CASE("a C++ keyword gets the prefix in every position and keeps its name on the wire") {
  Backend b;
  b.open_module("namespace");
  const TypeId type = b.structure("class", {{"int", b.number}});
  b.open_interface("virtual");
  b.operation("delete", type, {{"this", b.number}});
  b.attribute("new", b.number);
  b.close();
  b.close();
  const std::string header = b.client_header();
  CHECK_THAT(header, Contains("namespace _cxx_namespace {"));
  CHECK_THAT(header, Contains("class _cxx_class {"));
  CHECK_THAT(header, Contains("std::int32_t _cxx_int() const"));
  CHECK_THAT(header, Contains("virtual ::_cxx_namespace::_cxx_class _cxx_delete(std::int32_t _cxx_this);"));
  CHECK_THAT(header, Contains("\"IDL:namespace/virtual:1.0\""));
  CHECK_THAT(b.client_source(), Contains(".name = \"delete\""));
  CHECK_THAT(b.client_source(), Contains(".name = \"_get_new\""));
  CHECK_THAT(b.servant_header(), Contains("namespace POA_namespace {"));
}

TEST_CASE("a parameter that would hide a definition gets the prefix") {
  Backend b;
  b.constant("limit", b.number, std::int64_t{1});
  b.open_interface("I");
  b.operation("f", b.nothing, {{"limit", b.number}, {"other", b.number}});
  b.close();
  CHECK_THAT(b.client_header(), Contains("f(std::int32_t _cxx_limit, std::int32_t other)"));
}

TEST_CASE("members whose names differ by an underscore get data members of their own") {
  Backend b;
  b.structure("S", {{"x", b.number}, {"x_", b.number}, {"S_", b.number}});
  CHECK_THAT(b.client_header(), Contains("std::int32_t x__{};"));
  CHECK_THAT(b.client_header(), Contains("std::int32_t x___{};"));
}

TEST_CASE("a type of an interface is a member of its class and has its functions in the namespace") {
  Backend b;
  b.open_module("M");
  b.open_interface("I");
  b.enumeration("Mode", {"on", "off"});
  b.exception("Broken", {});
  b.close();
  b.close();
  const std::string header = b.client_header();
  CHECK(header.find("  enum class Mode : std::uint32_t { on, off };") < header.find("};\nvoid encode"));
  CHECK_THAT(header, Contains("void encode(::corelane::cdr::Writer& _writer, I::Mode _value);"));
  CHECK_THAT(b.client_source(), Contains("const char* I::Broken::what() const noexcept { return \"M::I::Broken\"; }"));
}

TEST_CASE("a diamond constructs its virtual bases in the order of C++ and answers each operation once") {
  Backend b;
  const TypeId top = b.open_interface("Top");
  b.operation("ping", b.nothing);
  b.close();
  const TypeId left = b.open_interface("Left", {top});
  b.close();
  const TypeId right = b.open_interface("Right", {top});
  b.close();
  b.open_interface("Bottom", {left, right});
  b.close();
  CHECK_THAT(b.client_header(), Contains("::CORBA::Object(_init), ::Top(_init), ::Left(_init),\n"));
  const std::string source = b.servant_source();
  const std::string bottom = source.substr(source.find("namespace _upcalls_of_Bottom"));
  CHECK(occurrences(bottom, ".name = \"ping\"") == 1);
  CHECK_THAT(bottom, Contains("static_cast<POA_Bottom*>(_self)->ping()"));
  CHECK_THAT(bottom, Contains("{\"IDL:Bottom:1.0\", \"IDL:Right:1.0\", \"IDL:Left:1.0\", \"IDL:Top:1.0\","));
}

TEST_CASE("upcalls are sorted by the bytes of their names") {
  Backend b;
  b.open_interface("I");
  b.operation("b", b.nothing);
  b.operation("Z", b.nothing);
  b.operation("a", b.nothing);
  b.attribute("m", b.number);
  b.close();
  const std::string source = b.servant_source();
  std::size_t at = 0;
  for (const std::string name : {"Z", "_get_m", "_set_m", "a", "b"}) {
    const std::size_t next = source.find("{.name = \"" + name + "\"");
    REQUIRE(next != std::string::npos);
    CHECK(next > at);
    at = next;
  }
}

TEST_CASE("a contract goes into the skeleton's table in nanoseconds, and not into the stub") {
  Backend b;
  b.open_interface("I");
  TaskContract contract;
  contract.period = std::chrono::milliseconds(10);
  contract.importance = -3;
  contract.on_overrun = OverrunPolicy::cancel;
  contract.intensity = 25;
  contract.uses = {{"bus", std::chrono::microseconds(200)}, {"log", std::chrono::microseconds(5)}};
  b.operation("step", b.nothing).contract = contract;
  b.close();
  const std::string source = b.servant_source();
  CHECK_THAT(source, Contains(".period = ::corelane::Duration{10'000'000}"));
  CHECK_THAT(source, Contains(".importance = -3"));
  CHECK_THAT(source, Contains("::corelane::OverrunPolicy::cancel"));
  CHECK_THAT(source, Contains(".intensity = 25"));
  CHECK_THAT(source, Contains(".uses = {::corelane::use_of(\"bus\", ::corelane::Duration{200'000}), "));
  CHECK_THAT(source, Contains("::corelane::use_of(\"log\", ::corelane::Duration{5'000})}"));
  CHECK_THAT(source, Contains(".contract = &_op_step_contract"));
  CHECK_THAT(b.client_source(), !Contains("ontract"));
}

TEST_CASE("a oneway call is sent and nothing is read back") {
  Backend b;
  b.open_interface("I");
  b.operation("note", b.nothing, {{"text", b.string()}}).oneway = true;
  b.close();
  CHECK_THAT(b.client_source(), Contains(".oneway = true"));
  CHECK_THAT(b.client_source(), !Contains("unmarshal"));
  CHECK_THAT(b.servant_source(), !Contains("_request.marshal"));
}

TEST_CASE("a class is declared forward once and only before its definition") {
  Backend b;
  const TypeId sink = b.declare_interface("Sink");
  b.forward(sink);
  b.forward(sink);
  b.open_interface(sink);
  b.close();
  b.forward(sink);
  CHECK(occurrences(b.client_header(), "class Sink;") == 1);
}

TEST_CASE("an interface that is only declared is a class of another file, abstract and local ones, too") {
  Backend b;
  const TypeId ghost = b.declare_interface("Ghost");
  b.model[b.model[ghost].definition].body = Forward{};
  b.structure("S", {{"ghost", ghost}});
  CHECK_THAT(b.client_header(), Contains("const ::CORBA::object_reference<::Ghost>& ghost() const"));
  CHECK_THAT(b.client_source(), Contains(".kind = ::corelane::any::Kind::objref, .id = \"IDL:Ghost:1.0\""));
  b.model[b.model[ghost].definition].body = Forward{.kind = InterfaceKind::abstract};
  CHECK_THAT(b.client_header(), Contains("const ::CORBA::abstractbase_reference<::Ghost>& ghost() const"));
  CHECK_THAT(b.client_source(), Contains("::corelane::any::Kind::abstract_interface"));
  b.model[b.model[ghost].definition].body = Forward{.kind = InterfaceKind::local};
  CHECK_THAT(b.client_header(), Contains("const ::CORBA::object_reference<::Ghost>& ghost() const"));
  CHECK_THAT(b.client_source(), !Contains("Ghost:1.0"));
}

// Edge cases: values.

TEST_CASE("constants keep their exact value") {
  Backend b;
  SECTION("the least 64-bit integer") {
    b.constant("c", b.basic(TypeKind::int64), std::numeric_limits<std::int64_t>::min());
    CHECK_THAT(b.client_header(), Contains("c = -9223372036854775807 - 1;"));
  }
  SECTION("the greatest 64-bit natural number") {
    b.constant("c", b.basic(TypeKind::uint64), std::numeric_limits<std::uint64_t>::max());
    CHECK_THAT(b.client_header(), Contains("c = 18446744073709551615U;"));
  }
  SECTION("a float has the digits of a float") {
    b.constant("c", b.basic(TypeKind::float32), 0.1);
    CHECK_THAT(b.client_header(), Contains("float c = 0.1F;"));
  }
  SECTION("a whole double stays a double") {
    b.constant("c", b.basic(TypeKind::float64), 3.0);
    CHECK_THAT(b.client_header(), Contains("double c = 3.0;"));
  }
  SECTION("text with a digit after a control character") {
    b.constant("c", b.string(),
               std::string("\x01"
                           "1\"$0"));
    CHECK_THAT(b.client_header(), Contains("inline const std::string c = \"\\0011\\\"$0\";"));
  }
  SECTION("text with question marks, which is no trigraph") {
    b.constant("c", b.string(), std::string("a?\?=?\? ?\?\?"));
    b.constant("w", b.basic(TypeKind::wide_string), std::u32string(U"?\?/\x80?\?"));
    CHECK_THAT(b.client_header(), Contains("c = \"a?\\?=?\\? ?\\?\\?\";"));
    CHECK_THAT(b.client_header(), Contains("w = L\"?\\?/\\200?\\?\";"));
  }
  SECTION("an enumerator with the name of a keyword") {
    const TypeId mode = b.enumeration("Mode", {"idle", "new"});
    b.constant("c", mode, EnumeratorRef{b.model[mode].definition, 1});
    CHECK_THAT(b.client_header(), Contains("inline constexpr ::Mode c = ::Mode::_cxx_new;"));
  }
}

TEST_CASE("an empty file gives headers without a namespace") {
  Backend b;
  CHECK_THAT(b.client_header(), !Contains("namespace "));
  CHECK_THAT(b.servant_header(), !Contains("namespace "));
}

TEST_CASE("a module without code of the main file opens no namespace") {
  Backend b;
  b.include("other.idl");
  b.open_module("Elsewhere");
  b.structure("S", {{"x", b.number}});
  b.close();
  b.back_to_main();
  CHECK_THAT(b.client_header(), !Contains("Elsewhere"));
}

TEST_CASE("a structure that has another twice, 64 deep, is looked at once") {
  Backend b;
  TypeId inner = b.structure("S0", {{"x", b.number}});
  for (int i = 1; i <= 64; ++i) inner = b.structure("S" + std::to_string(i), {{"a", inner}, {"b", inner}});
  CHECK_THAT(b.client_header(), Contains("class S64"));
}
