#include "idl/cxx/support.h"

#include <catch2/catch.hpp>

#include "tests/idl/cxx/kitchen.h"
#include "tests/idl/cxx/model_builder.h"

using namespace corelane::idl;
using corelane::idl::test::Kitchen;
using corelane::idl::test::ModelBuilder;

namespace {

// The first thing that is refused; empty when nothing is.
std::string refusal(const Model& model, const cxx::Options& options = {}) {
  const auto found = cxx::unsupported_in(model, options);
  return found.empty() ? "" : found.front().message;
}

}  // namespace

TEST_CASE("what the kitchen holds is supported") { CHECK(refusal(Kitchen().model()).empty()); }

TEST_CASE("maps and optional members wait for --extensions") {
  ModelBuilder b;
  const TypeId number = b.basic(TypeKind::int32);
  SECTION("a map") {
    const TypeId map = b.basic(TypeKind::map);
    b.model[map].key = b.model[map].element = number;
    b.structure("S", {{"m", map}});
  }
  SECTION("an optional member") {
    const TypeId type = b.structure("S", {{"m", number}});
    std::get<Structure>(b.model[b.model[type].definition].body).members[0].optional = true;
  }
  CHECK_THAT(refusal(b.model), Catch::Contains("allow Corelane's own with --extensions"));
  CHECK(refusal(b.model, {.extensions = true}).empty());
}
