#include "idl/cxx/support.h"

#include <catch2/catch.hpp>

#include "tests/idl/cxx/kitchen.h"
#include "tests/idl/cxx/model_builder.h"

using namespace corelane::idl;
using corelane::idl::test::Kitchen;
using corelane::idl::test::ModelBuilder;

namespace {

// Returns the message of the first unsupported construct; empty if there is none.
std::string refusal(const Model& model, const cxx::Options& options = {}) {
  const auto found = cxx::unsupported_in(model, options);
  return found.empty() ? "" : found.front().message;
}

}  // namespace

TEST_CASE("every construct in the kitchen-sink file is supported") { CHECK(refusal(Kitchen().model()).empty()); }

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
  SECTION("an optional branch of a union") {
    Union body;
    body.discriminator = number;
    body.branches.emplace_back().member.optional = true;
    b.model[b.model[b.structure("U", {})].definition].body = body;
  }
  CHECK_THAT(refusal(b.model), Catch::Contains("allow Corelane's own with --extensions"));
  CHECK(refusal(b.model, {.extensions = true}).empty());
}

TEST_CASE("replies of one name in two bases are refused where asynchronous calls are asked for") {
  ModelBuilder b;
  const TypeId number = b.basic(TypeKind::int32);
  const auto interface_with = [&](const std::string& name, const std::vector<TypeId>& bases, const auto& add) {
    const TypeId type = b.open_interface(name, bases);
    add();
    b.close();
    return type;
  };
  const TypeId meter = interface_with("Meter", {}, [&] { b.attribute("y", number, true); });
  const auto gauge_with = [&](const std::string& operation) {
    const TypeId gauge = interface_with("Gauge", {}, [&] { b.operation(operation, number); });
    interface_with("Panel", {meter, gauge}, [] {});
  };
  SECTION("an attribute and what is called like its accessor") {
    gauge_with("get_y");
    CHECK(refusal(b.model, {.ami = true}) ==
          "asynchronous calls of `Meter` and of `Gauge` both have a reply called `get_y`, so one handler cannot hear "
          "both; rename one, or compile without --ami");
  }
  SECTION("an exception's reply and what is called like it") {
    gauge_with("get_y_excep");
    CHECK_THAT(refusal(b.model, {.ami = true}), Catch::Contains("a reply called `get_y_excep`"));
  }
  SECTION("an operation, and the function that calls another asynchronously") {
    gauge_with("sendc_get_y");
    CHECK(refusal(b.model, {.ami = true}) ==
          "asynchronous calls of `Meter` are made by `sendc_get_y`, which `Gauge` has, too; rename one, or compile "
          "without --ami");
  }
  SECTION("an attribute, and the function that calls another asynchronously") {
    const TypeId gauge = interface_with("Gauge", {}, [&] { b.attribute("sendc_get_y", number, true); });
    interface_with("Panel", {meter, gauge}, [] {});
    CHECK_THAT(refusal(b.model, {.ami = true}), Catch::Contains("are made by `sendc_get_y`, which `Gauge` has, too"));
  }
  SECTION("names that differ") {
    gauge_with("get_z");
    CHECK(refusal(b.model, {.ami = true}).empty());
  }
  SECTION("one base that both have") {
    const TypeId left = interface_with("Left", {meter}, [] {});
    const TypeId right = interface_with("Right", {meter}, [] {});
    interface_with("Both", {left, right}, [] {});
    CHECK(refusal(b.model, {.ami = true}).empty());
  }
  SECTION("one abstract base that both implement") {
    std::get<Interface>(b.model[b.model[meter].definition].body).kind = InterfaceKind::abstract;
    const TypeId left = interface_with("Left", {meter}, [] {});
    const TypeId right = interface_with("Right", {meter}, [] {});
    interface_with("Both", {left, right}, [] {});
    CHECK(refusal(b.model, {.ami = true}).empty());
  }
  CHECK(refusal(b.model).empty());
}

TEST_CASE("an operation that a class would have to declare under its own name is refused") {
  ModelBuilder b;
  const TypeId nothing = b.basic(TypeKind::void_);
  const auto named = [&](const std::string& operation, InterfaceKind kind) {
    const TypeId type = b.open_interface("Named");
    b.operation(operation, nothing);
    b.close();
    std::get<Interface>(b.model[b.model[type].definition].body).kind = kind;
    return type;
  };
  const auto derived = [&](const std::string& name, TypeId base) {
    const TypeId type = b.open_interface(name, {base});
    b.close();
    return type;
  };
  SECTION("the stub's, inherited from an abstract interface") {
    derived("Twin", named("Twin", InterfaceKind::abstract));
    CHECK(refusal(b.model) ==
          "`Named::Twin` would be a member of the C++ class `Twin`, where that name means the constructor; rename one");
  }
  SECTION("the skeleton's") {
    derived("Twin", named("POA_Twin", InterfaceKind::abstract));
    CHECK_THAT(refusal(b.model), Catch::Contains("the C++ class `POA_Twin`"));
  }
  SECTION("that of a local interface, which declares all") {
    const TypeId twin = derived("Twin", named("Twin", InterfaceKind::unconstrained));
    CHECK(refusal(b.model).empty());
    std::get<Interface>(b.model[b.model[twin].definition].body).kind = InterfaceKind::local;
    CHECK_THAT(refusal(b.model), Catch::Contains("the C++ class `Twin`"));
  }
  SECTION("but not where a base has it already") {
    derived("Twin", derived("Bearer", named("Twin", InterfaceKind::abstract)));
    CHECK(refusal(b.model).empty());
  }
}

TEST_CASE("a native type in an interface that is not local is refused") {
  ModelBuilder b;
  const TypeId native = b.basic(TypeKind::native);
  const TypeId type = b.open_interface("Shown");
  SECTION("a parameter") { b.operation("f", b.basic(TypeKind::void_), {{"n", native}}); }
  SECTION("a result") { b.operation("f", native); }
  SECTION("an attribute") { b.attribute("a", native); }
  b.close();
  CHECK_THAT(refusal(b.model),
             Catch::Contains("of a native type, which cannot leave the process: make the interface local"));
  std::get<Interface>(b.model[b.model[type].definition].body).kind = InterfaceKind::local;
  CHECK(refusal(b.model).empty());
}
