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

TEST_CASE("a forgotten name that another has bound is his until he is gone") {
  ServedNames names;
  const QuietOrb server({"-ORBInitRef", "NameService=" + names.ior()});
  const auto root = names.root();
  const Registration name(server.orb, "x", root, {.renewal = 1ms});
  const std::string owner = root->describe(cos_name("x")).owner();
  root->rebind(cos_name("x"), root);
  root->nameserver()->end(std::stoull(owner.substr(owner.find(' '))));
  const auto leases = [&] { return root->nameserver()->state().leases(); };
  const auto is_his = [&] { return root->describe(cos_name("x")).lives() == Corelane::Naming::Lifetime::persistent; };
  // Each renewal takes a lease and gives it back.
  while (leases() == 0) std::this_thread::yield();
  while (leases() != 0 && is_his()) std::this_thread::yield();
  CHECK(is_his());
  root->unbind(cos_name("x"));
  while (!resolved(root, "x").empty()) std::this_thread::yield();
  CHECK_FALSE(is_his());
}

// Error paths.

TEST_CASE("what cannot be registered is refused") {
  ServedNames names;
  const QuietOrb server({"-ORBInitRef", "NameService=" + names.ior()});
  CHECK(raised_by([&] { Registration(server.orb, "a//b", names.root()); }) == "InvalidName");
  CHECK(raised_by([&] { Registration(server.orb, "a/b", names.root(), {.make_contexts = false}); }) ==
        "NotFound missing_node a/b");
}
