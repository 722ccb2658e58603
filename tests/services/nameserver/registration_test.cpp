#include "services/nameserver/client/registration.h"

#include <catch2/catch.hpp>
#include <thread>

#include "tests/services/nameserver/served.h"

using namespace corelane;
using namespace corelane::testing;
using naming::Registration;
using namespace std::chrono_literals;

namespace {

std::string resolved(const NamingDirectory& root, const std::string& name) {
  return raised_by([&] { root->resolve(cos_name(name)); });
}

}  // namespace

TEST_CASE("a registered name is there as long as the registration, with the contexts on its way") {
  ServedNames names;
  const QuietOrb server({"-ORBInitRef", "NameService=" + names.ior()});
  const auto root = names.root();
  {
    const Registration name(server.orb, "plant/line.1/controller", root);
    CHECK(name.ephemeral());
    CHECK(resolved(root, "plant/line.1/controller") == "");
    CHECK(root->describe(cos_name("plant/line.1/controller")).lives() == Corelane::Naming::Lifetime::ephemeral);
    CHECK(raised_by([&] { Registration again(server.orb, "plant/line.1/controller", root, {.replace = false}); }) ==
          "AlreadyBound");
    CHECK_NOTHROW(Registration(server.orb, "plant/line.1/other", root));
  }
  CHECK(resolved(root, "plant/line.1/controller") == "NotFound missing_node controller");
  CHECK(root->nameserver()->state().leases() == 0);
}

TEST_CASE("a name that the nameserver has forgotten is registered again") {
  ServedNames names;
  const QuietOrb server({"-ORBInitRef", "NameService=" + names.ior()});
  const Registration name(server.orb, "x", names.root(), {.renewal = 1ms});
  const std::string owner = names.root()->describe(cos_name("x")).owner();
  const auto lease = std::stoull(owner.substr(owner.find(' ')));
  names.root()->nameserver()->end(lease);
  while (!resolved(names.root(), "x").empty()) std::this_thread::yield();
  CHECK(names.root()->describe(cos_name("x")).owner() != owner);
}

// Error paths.

TEST_CASE("what cannot be registered is refused") {
  ServedNames names;
  const QuietOrb server({"-ORBInitRef", "NameService=" + names.ior()});
  CHECK(raised_by([&] { Registration(server.orb, "a//b", names.root()); }) == "InvalidName");
  CHECK(raised_by([&] { Registration(server.orb, "a/b", names.root(), {.make_contexts = false}); }) ==
        "NotFound missing_node a/b");
}
