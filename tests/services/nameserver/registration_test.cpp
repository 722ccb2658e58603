#include "services/nameserver/client/registration.h"

#include <pthread.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <optional>
#include <thread>

#include "orb/os/machine/host.h"
#include "orb/os/process/child_process.h"
#include "tests/services/nameserver/served.h"
#include "tests/services/nameserver/stores/etcd/etcd_server.h"
#include "tests/support/quiet.h"
#include "tests/support/system/captured_errors.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane;
using namespace corelane::testing;
using naming::Registration;
using namespace std::chrono_literals;

namespace {

// A nameserver that is restarted at the same place, with other names.
class Forgetful {
 public:
  Forgetful() { run_again("memory"); }

  ServedNames& now() { return *names_; }
  void run_again(const std::string& store) {
    names_.reset();
    names_.emplace(std::vector<std::string>{"-ORBEndpointListen", "unix:" + (place_ / "names.sock")}, store);
  }
  std::string store_where_another_has(const std::string& name) const {
    std::string store = "sqlite:" + (place_ / "names.db");
    ServedNames({}, store).root()->bind(cos_name(name), nullptr);
    return store;
  }

 private:
  const TempDirectory place_;
  std::optional<ServedNames> names_;
};

// While this lives, a thread without a stack size of its own asks for more stack than any machine has, so it cannot
// start.
class NoPlainThreads {
 public:
  NoPlainThreads() {
    REQUIRE(pthread_getattr_default_np(&before_) == 0);
    pthread_attr_t vast;
    REQUIRE(pthread_attr_init(&vast) == 0);
    REQUIRE(pthread_attr_setstacksize(&vast, std::size_t{1} << 46) == 0);
    REQUIRE(pthread_setattr_default_np(&vast) == 0);
    pthread_attr_destroy(&vast);
  }
  ~NoPlainThreads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }

 private:
  pthread_attr_t before_;
};

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
  Forgetful names;
  const QuietOrb server({"-ORBInitRef", "NameService=" + names.now().ior()});
  const Registration name(server.orb, "x", server->string_to_object("corbaloc::things.example/x"), {.renewal = 1ms});
  CHECK(resolved(names.now().root(), "x") == "");
  names.run_again("memory");
  while (!resolved(names.now().root(), "x").empty()) std::this_thread::yield();
}

TEST_CASE("a forgotten name that another server has bound stays with that server until it ends") {
  Forgetful names;
  const QuietOrb server({"-ORBInitRef", "NameService=" + names.now().ior()});
  const Registration name(server.orb, "x", server->string_to_object("corbaloc::things.example/x"), {.renewal = 1ms});
  names.run_again(names.store_where_another_has("x"));
  const auto root = names.now().root();
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

TEST_CASE("a name that another registration replaced comes back when that ends") {
  const Quiet quiet;
  ServedNames names;
  const QuietOrb server({"-ORBInitRef", "NameService=" + names.ior()});
  const auto root = names.root();
  const auto first = server->string_to_object("corbaloc::things.example/first");
  const Registration name(server.orb, "plant/x", first, {.renewal = 1ms});
  const auto leads_to_first = [&] {
    try {
      return first->_is_equivalent(root->resolve(cos_name("plant/x")));
    } catch (const CosNaming::NamingContext::NotFound&) {
      return false;
    }
  };
  {
    const Registration other(server.orb, "plant/x", server->string_to_object("corbaloc::things.example/other"));
    CHECK_FALSE(leads_to_first());
  }
  while (!leads_to_first()) std::this_thread::yield();  // bound: the next renewal
  root->unbind(cos_name("plant/x"));
  while (!leads_to_first()) std::this_thread::yield();
}

// Errors.

TEST_CASE("a second server of one name says whose it takes over, and does not start where it is told not to") {
  ServedNames names;
  const QuietOrb first({"-ORBInitRef", "NameService=" + names.ior()});
  const QuietOrb second({"-ORBInitRef", "NameService=" + names.ior()});
  const QuietOrb modest({"-ORBInitRef", "NameService=" + names.ior(), "-ORBNamingReplace", "off"});
  const auto reference = [](const QuietOrb& orb, const char* host) {
    return orb->string_to_object("corbaloc::" + std::string(host) + "/x");
  };
  const Registration one(first.orb, "x", reference(first, "one.example"));
  const CapturedErrors errors;
  CHECK(raised_by([&] { Registration(modest.orb, "x", reference(modest, "two.example")); }) == "AlreadyBound");
  CHECK(errors.times("takes the name over") == 0);
  const Registration two(second.orb, "x", reference(second, "two.example"));
  CHECK(errors.times("naming: 'x' is bound already (by process " + std::to_string(getpid()) +
                     "), and this server takes the name over") == 1);
  CHECK(errors.times("the name is gone until the other binds it again, which may take a renewal (") == 1);
  CHECK(errors.times("-ORBNamingReplace off") == 1);
}

TEST_CASE("a copy of a server is told from the server though their references equal each other") {
  ServedNames names;
  const QuietOrb server({"-ORBInitRef", "NameService=" + names.ior()});
  const std::string reference = "corbaloc::one.example/x";
  os::ChildProcess other({"cat"});
  const auto& here = os::this_host();
  const auto process = os::identity_of(other.pid()).value();
  const auto lease = names.root()->nameserver()->lease_of(
      Corelane::Naming::Process(here.boot_id, here.pid_namespace, process.pid, process.start_ticks));
  names.root()->bind_leased(cos_name("x"), server->string_to_object(reference), lease, false);
  const CapturedErrors errors;
  const Registration copy(server.orb, "x", server->string_to_object(reference));
  CHECK(errors.times("'x' is bound already (by process " + std::to_string(other.pid()) + ")") == 1);
}

TEST_CASE("a name that cannot be registered is refused") {
  ServedNames names;
  const QuietOrb server({"-ORBInitRef", "NameService=" + names.ior()});
  CHECK(raised_by([&] { Registration(server.orb, "a//b", names.root()); }) == "InvalidName");
  CHECK(raised_by([&] { Registration(server.orb, "a/b", names.root(), {.make_contexts = false}); }) ==
        "NotFound missing_node a/b");
}

TEST_CASE("a registration that the store does not take leaves no lease behind") {
  if (nameserver::testing::lacks_etcd()) return;
  const Quiet quiet;
  nameserver::testing::EtcdServer etcd;
  ServedNames names({}, etcd.url());
  const QuietOrb server({"-ORBInitRef", "NameService=" + names.ior()});
  const auto root = names.root();
  etcd.kill();
  nameserver::testing::until([&] { return root->nameserver()->state().stale(); });
  CHECK(raised_by([&] { Registration(server.orb, "x", root); }) == "TRANSIENT");
  CHECK(root->nameserver()->state().leases() == 0);
}

TEST_CASE("a registration that gets no thread leaves the name to its owner") {
  ServedNames names;
  const QuietOrb server({"-ORBInitRef", "NameService=" + names.ior()});
  const auto root = names.root();
  { const Registration first(server.orb, "plant/first", root); }  // starts the threads of an ORB's first calls
  root->bind(cos_name("plant/x"), nullptr);
  const auto registered = [&](const std::string& name) {
    const NoPlainThreads none;
    return raised_by([&] { Registration(server.orb, name, root); });
  };
  CHECK(registered("plant/x") == "NO_RESOURCES");
  CHECK(resolved(root, "plant/x") == "");
  CHECK(root->describe(cos_name("plant/x")).lives() == Corelane::Naming::Lifetime::persistent);
  CHECK(registered("hall/y") == "NO_RESOURCES");
  CHECK(resolved(root, "hall") == "NotFound missing_node hall");
  CHECK(root->nameserver()->state().leases() == 0);
}
