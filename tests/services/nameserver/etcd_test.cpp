// Several nameservers on one etcd.
#include <signal.h>

#include <catch2/catch.hpp>
#include <optional>

#include "orb/os/machine/host.h"
#include "orb/os/process/child_process.h"
#include "tests/services/nameserver/served.h"
#include "tests/services/nameserver/stores/etcd/etcd_server.h"
#include "tests/support/quiet.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane::testing;
using corelane::nameserver::testing::EtcdServer;
using corelane::nameserver::testing::lacks_etcd;
using corelane::nameserver::testing::until;
using corelane::os::ChildProcess;

namespace etcd_daemon_test {
namespace {

// A corelane-nameserver process that uses an etcd and has a copy of its names at the path.
class EtcdDaemon {
 public:
  EtcdDaemon(const EtcdServer& etcd, const std::string& copy) : url_(etcd.url()), copy_(copy) { start(); }
  ~EtcdDaemon() { kill(); }

  void start() {
    process_.emplace(std::vector<std::string>{corelane::os::program_beside("corelane-nameserver"), "-ORBEndpointListen",
                                              "127.0.0.1:0", "-ORBRuntimeDirectory", place_.path(), "-ORBNamingStore",
                                              url_, "-ORBNamingEtcdCopy", copy_});
    REQUIRE(process_->read_line());  // it answers now
  }
  void kill() {
    ::kill(process_->pid(), SIGKILL);
    process_->wait();
  }
  std::string socket() const { return place_ / "nameserver.sock"; }

 private:
  const TempDirectory place_;
  const std::string url_, copy_;
  std::optional<ChildProcess> process_;
};

NamingDirectory root_of(const QuietOrb& client) {
  return IDL::traits<Corelane::Naming::Directory>::narrow(client->resolve_initial_references("NameService"));
}

std::string resolved(const NamingDirectory& root, const std::string& name) {
  return raised_by([&] { root->resolve(cos_name(name)); });
}

}  // namespace

TEST_CASE("a bind for which etcd has no room is IMP_LIMIT, and names are found and unbound all the same") {
  if (lacks_etcd()) return;
  const Quiet quiet;
  const EtcdServer etcd(" --quota-backend-bytes 1000000");
  ServedNames names({}, etcd.url());
  const QuietOrb client;
  const auto root = names.seen_by(client);
  const auto thing = client->string_to_object("corbaloc::things.example/" + std::string(7000, 'x'));
  int bound = 0;
  std::string raised;
  for (; raised.empty(); ++bound) raised = raised_by([&] { root->bind(cos_name(std::to_string(bound)), thing); });
  CHECK(raised == "IMP_LIMIT");
  CHECK(bound > 1);
  CHECK(raised_by([&] { root->resolve(cos_name("0")); }) == "");
  CHECK(raised_by([&] { root->unbind(cos_name("0")); }) == "");
}

TEST_CASE("two nameservers on one etcd agree, and go on from their copies while it is away") {
  if (lacks_etcd()) return;
  EtcdServer etcd;
  ServedNames first({}, etcd.url()), second({}, etcd.url());
  const QuietOrb client;
  const auto one = first.seen_by(client), other = second.seen_by(client);
  const auto bind = [](const auto& root, const std::string& name) {
    return raised_by([&] { root->bind(cos_name(name), nullptr); });
  };
  const auto resolves = [](const auto& root, const std::string& name) {
    return raised_by([&] { root->resolve(cos_name(name)); }).empty();
  };
  const auto stale = [](const auto& root) { return root->nameserver()->state().stale(); };

  one->bind_new_context(cos_name("plant"));
  CHECK(bind(one, "plant/x") == "");
  until([&] { return resolves(other, "plant/x"); });
  CHECK(bind(other, "plant/x") == "AlreadyBound");
  const auto plant = IDL::traits<CosNaming::NamingContext>::narrow(other->resolve(cos_name("plant")));
  CHECK(bind(plant, "y") == "");
  until([&] { return resolves(one, "plant/y"); });

  etcd.kill();
  until([&] { return stale(one) && stale(other); });
  CHECK((resolves(one, "plant/y") && resolves(other, "plant/x")));
  CHECK(bind(one, "z") == "TRANSIENT");

  etcd.start();
  until([&] { return !stale(one) && !stale(other); });
  CHECK((resolves(one, "plant/y") && resolves(other, "plant/x")));
  until([&] { return bind(one, "z") != "TRANSIENT"; });
  until([&] { return resolves(other, "z"); });
}

TEST_CASE(
    "a nameserver that is killed with its etcd and starts alone finds names, stale, and goes on when etcd is back") {
  if (lacks_etcd()) return;
  const TempDirectory directory;
  EtcdServer etcd;
  EtcdDaemon daemon(etcd, directory / "copy.db");
  {
    const QuietOrb client({"-ORBNamingSocket", daemon.socket()});
    root_of(client)->bind_new_context(cos_name("plant"));
    root_of(client)->bind(cos_name("plant/x"), root_of(client));
  }
  // The copy is a moment behind, and kill -9 loses what is not written yet. The copy's log contains the keys as plain
  // text.
  until([&] {
    const auto found = ChildProcess({"grep", "-qa", "/x|", directory / "copy.db-wal"}).wait();
    return found && found->ok();
  });
  daemon.kill();
  etcd.kill();
  daemon.start();
  const QuietOrb client({"-ORBNamingSocket", daemon.socket()});
  const auto root = root_of(client);
  CHECK(root->nameserver()->state().stale());
  CHECK(raised_by([&] { root->resolve(cos_name("plant/x")); }) == "");
  CHECK(raised_by([&] { root->bind(cos_name("plant/y"), root); }) == "TRANSIENT");
  CHECK(raised_by([&] { root->unbind(cos_name("plant/x")); }) == "TRANSIENT");
  etcd.start();
  until([&] { return !root->nameserver()->state().stale(); });
  CHECK(raised_by([&] { root->bind(cos_name("plant/y"), root); }) == "");
  CHECK(raised_by([&] { root->unbind(cos_name("plant/x")); }) == "");
}

TEST_CASE("a name whose process the copy does not know goes with it after a start while etcd is away") {
  if (lacks_etcd()) return;
  const TempDirectory directory;
  EtcdServer etcd;
  { const EtcdDaemon with_copy(etcd, directory / "copy.db"); }
  ChildProcess owner({"sleep", "1000"});
  {
    const EtcdDaemon without(etcd, "off");
    const QuietOrb client({"-ORBNamingSocket", without.socket()});
    const auto process = corelane::os::identity_of(owner.pid()).value();
    const auto& here = corelane::os::this_host();
    const auto lease = root_of(client)->nameserver()->lease_of(
        Corelane::Naming::Process(here.boot_id, here.pid_namespace, process.pid, process.start_ticks));
    root_of(client)->bind_leased(cos_name("theirs"), nullptr, lease, false);
  }
  etcd.kill();
  const EtcdDaemon daemon(etcd, directory / "copy.db");
  const QuietOrb client({"-ORBNamingSocket", daemon.socket()});
  const auto root = root_of(client);
  CHECK(resolved(root, "theirs") == "NotFound missing_node theirs");
  etcd.start();
  until([&] { return resolved(root, "theirs").empty(); });
  ::kill(owner.pid(), SIGKILL);
  until([&] { return !resolved(root, "theirs").empty(); });
}

}  // namespace etcd_daemon_test
