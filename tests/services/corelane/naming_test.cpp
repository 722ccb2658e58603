// What `corelane ns` says of a naming service's refusals. tests/interop has a live omniNames; the program with
// Corelane's own nameserver is in tests/services/nameserver.
#include "services/corelane/naming.h"

#include <catch2/catch.hpp>
#include <sstream>
#include <string>

#include "CorelaneNamingC.h"
#include "services/corelane/naming_fault.h"

using namespace corelane;
using namespace corelane::tool;
using Catch::Contains;
using Context = CosNaming::NamingContext;
using Reason = CosNaming::NamingContext::NotFoundReason;

namespace {

giop::Name name_of(const std::string& text) { return *giop::parse_name(text); }
CosNaming::Name wire_of(const std::string& text) { return wire_name(name_of(text)); }

}  // namespace

TEST_CASE("each refusal of a naming service says which component it was and what to do next") {
  const std::string name = "plant/line.1/controller";
  const auto said_of = [&](const std::exception& exception) { return fault_of_naming(exception, name_of(name)); };
  CHECK(
      said_of(Context::NotFound(Reason::missing_node, wire_of("line.1/controller"))) ==
      "'plant' has no 'line.1'; corelane ns list 'plant' shows what it has, ns bind --parents makes contexts that are "
      "missing");
  CHECK(said_of(Context::NotFound(Reason::missing_node, wire_of("controller"))) ==
        "'plant/line.1' has no 'controller'; corelane ns list 'plant/line.1' shows what it has");
  CHECK(
      said_of(Context::NotFound(Reason::missing_node, wire_of(name))) ==
      "the root context has no 'plant'; corelane ns list shows what it has, ns bind --parents makes contexts that are "
      "missing");
  CHECK(said_of(Context::NotFound(Reason::not_context, wire_of("line.1/controller"))) ==
        "'line.1' in 'plant' is an object and no context, so it holds no names");
  CHECK(said_of(Context::NotFound(Reason::not_object, wire_of("controller"))) ==
        "'controller' in 'plant/line.1' is a context and no object");
  CHECK_THAT(said_of(Context::NotFound(Reason::missing_node, {})), Contains("is not bound"));
  CHECK_THAT(said_of(Context::CannotProceed(nullptr, wire_of("controller"))), Contains("as far as 'plant/line.1'"));
  CHECK_THAT(said_of(Context::AlreadyBound()), Contains("--replace"));
  CHECK_THAT(said_of(Context::NotEmpty()), Contains("corelane ns list 'plant/line.1/controller'"));
  CHECK_THAT(said_of(Context::InvalidName()), Contains("no name"));
  CHECK(said_of(Corelane::Naming::Refused("because")) == "because");
  CHECK_THAT(said_of(Corelane::Naming::UnknownLease()), Contains("has ended"));
  CHECK(said_of(std::exception()).empty());
}

TEST_CASE("a name is the same on the wire and here") {
  const giop::Name name = name_of("a.b/c/.d");
  CHECK(own_name(wire_name(name)) == name);
}

// Error paths.

TEST_CASE("without a naming service a command says how to come by one") {
  std::ostringstream out, err;
  const NamingOptions options{.orb_options = {"-ORBNamingService", "corbaloc::127.0.0.1:1/NameService"}, .name = "a"};
  CHECK(resolve_name(options, out, err) == 1);
  CHECK(out.str().empty());
  CHECK_THAT(err.str(), Catch::StartsWith("corelane ns resolve: ") && Contains("127.0.0.1:1"));
}

TEST_CASE("a text that is no name is refused before anybody is asked") {
  std::ostringstream out, err;
  CHECK(unbind_name({.name = "a//b"}, out, err) == 1);
  CHECK_THAT(err.str(), Catch::StartsWith("corelane ns unbind: 'a//b' is no name: "));
}
