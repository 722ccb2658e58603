// The text of [[deprecated]]. tests/idl/cxx/deprecated.py tests what C++ compilers make of it.
#include "idl/cxx/spelling/deprecated.h"

#include <catch2/catch.hpp>
#include <string>

#include "idl/cxx/generate.h"
#include "tests/idl/cxx/model_builder.h"

using namespace corelane::idl;
using Catch::Contains;
using corelane::idl::cxx::deprecated_attribute;
using corelane::idl::test::ModelBuilder;

namespace {

Annotations deprecated(const Value& text) { return std::vector{Annotation{"deprecated", {{"value", text}}, {}}}; }

}  // namespace

TEST_CASE("the text of an annotation is the text of the attribute") {
  CHECK(deprecated_attribute(deprecated(std::string("use g"))) == "[[deprecated(\"use g\")]]");
  CHECK(deprecated_attribute(deprecated(std::string("a \"b\" \\"))) == "[[deprecated(\"a \\\"b\\\" \\\\\")]]");
}

TEST_CASE("without a text the attribute has none") {
  CHECK(deprecated_attribute(deprecated(std::string())) == "[[deprecated]]");
}

TEST_CASE("without the annotation there is no attribute") {
  CHECK(deprecated_attribute({}) == "");
  CHECK(deprecated_attribute(std::vector{Annotation{"rt::deprecated", {}, {}}}) == "");
}

TEST_CASE("a text of several lines is on one line, as a message must be") {
  CHECK(deprecated_attribute(deprecated(std::string("a\n\tb\x7f"))) == "[[deprecated(\"a  b \")]]");
}

TEST_CASE("a text keeps its UTF-8, and other bytes become question marks") {
  const auto text_of = [](const std::string& text) { return deprecated_attribute(deprecated(text)); };
  const std::string valid = "\xC3\xB6 \xE2\x82\xAC \xF0\x9F\x98\x80";
  CHECK(text_of(valid) == "[[deprecated(\"" + valid + "\")]]");
  CHECK(text_of("caf\xE9") == "[[deprecated(\"caf?\")]]");
  CHECK(text_of("\xED\xA0.\xF5") == "[[deprecated(\"?\\?.?\")]]");
}

TEST_CASE("an annotation of that name that the IDL declares needs no text") {
  CHECK(deprecated_attribute(std::vector{Annotation{"deprecated", {{"since", std::string("2")}}, {}}}) ==
        "[[deprecated]]");
  CHECK(deprecated_attribute(deprecated(std::int64_t{2})) == "[[deprecated]]");
}

TEST_CASE("a file turns warnings off only if its model has something deprecated") {
  ModelBuilder b;
  const TypeId number = b.basic(TypeKind::int32);
  b.open_interface("I");
  Operation& operation = b.operation("f", number);
  CHECK_THAT(cxx::generate(b.model, {})[0].text, !Contains("#pragma GCC"));
  operation.annotations = deprecated(std::string("use g"));
  for (const cxx::OutputFile& file : cxx::generate(b.model, {})) {
    CHECK_THAT(file.text, Contains("#pragma GCC diagnostic push\n"));
    CHECK_THAT(file.text, Catch::EndsWith("#pragma GCC diagnostic pop\n"));
  }
}
