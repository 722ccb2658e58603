// Task cores of a server that reserves them with corelane-reserved, on cpusets of this kernel.
#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "orb/core/reservation/reserved_cores.h"
#include "orb/dispatch/leases/host_ledger.h"
#include "orb/os/clock.h"
#include "orb/os/machine/core_list.h"
#include "tests/services/reserved/daemon_inside.h"
#include "tests/support/quiet.h"

using namespace corelane;
using namespace corelane::testing;

namespace {

// A server's provider of cores that uses the daemon. Its log is off.
class LeasedCores {
 public:
  explicit LeasedCores(const RunningDaemon& daemon, bool required = false, Duration patience = std::chrono::minutes{1})
      : provider(std::make_unique<dispatch::UnguardedCores>(os::Topology::detect().value()),
                 {.sockets = {daemon.socket()},
                  .required = required,
                  .look_period = std::chrono::milliseconds{1},
                  .patience = patience}) {}

  // Returns an empty text if the lease was refused.
  std::string lease(const std::vector<CoreId>& cores = {}) {
    const auto leases = provider.lease({.cores = cores});
    std::vector<CoreId> found;
    if (leases)
      for (const dispatch::CoreLease& lease : *leases) found.push_back(lease.core);
    return os::core_list_text(found);
  }
  // Maintains the leases like the housekeeper until the condition holds.
  template <typename Condition>
  bool maintains_until(ReservationClient& client, const Condition& holds) {
    const Time patience = os::now() + std::chrono::minutes{1};
    while (!holds()) {
      if (os::now() > patience) return false;
      provider.maintain();
      client.server->cores();  // lets the daemon run
    }
    return true;
  }

 private:
  Quiet quiet_;

 public:
  core::ReservedCores provider;
};

}  // namespace

TEST_CASE("a server's task cores are its own while the daemon runs and are given back with it") {
  check_inside([](const LiveCpusets& at) {
    Faults faults;
    RunningDaemon daemon = daemon_of(at);
    {
      const auto server = corba::init_orb(
          {"-ORBRuntimeDirectory", daemon.directory(), "-ORBLogLevel", "off", "-ORBEndpointListen", "unix:"}, "server");
      server->listen();
      ReservationClient looker(daemon);
      const auto accounts = looker.server->accounts();
      faults.unless(accounts.size() == 1 && accounts[0].whose().who().pid() == getpid(), "it has no account");
      faults.differ(os::core_list_text(reserved::HostProcesses().affinity(0).value()), at.second(), "where it runs");
      server->destroy();
    }
    ReservationClient client(daemon);  // the ORBs of a process share their cores: the last one is gone now
    faults.unless(client.accounts_become(0), "not given back");
    return faults.text();
  });
}

TEST_CASE("a server that is started on reserved cores uses those, and leaves them to the process that reserved them") {
  check_inside([](const LiveCpusets& at) {
    Faults faults;
    RunningDaemon daemon = daemon_of(at);
    const std::string found = text_of_child([&] {
      ReservationClient client(daemon);
      client.reserve(0, 1);
      std::string leased;
      {
        LeasedCores cores(daemon, true);
        leased = cores.lease() + "," + cores.lease({at.cores[0]});
      }
      return leased + "," + std::to_string(client.server->accounts().size());
    });
    faults.differ(found, at.second() + ",,1", "its cores, what it gets of others, and the accounts after it");
    return faults.text();
  });
}

TEST_CASE("cores that are granted after the server went on without are given back") {
  check_inside([](const LiveCpusets& at) {
    Faults faults;
    RunningDaemon daemon = daemon_of(at);
    LeasedCores cores(daemon, false, std::chrono::milliseconds{1});
    daemon.pause();
    cores.lease();
    daemon.go_on();
    faults.unless(!cores.provider.has_cores(), "it got them");
    ReservationClient client(daemon);
    faults.unless(client.accounts_become(1), "not granted");
    faults.unless(cores.maintains_until(client, [&] { return client.server->accounts().empty(); }), "not given back");
    return faults.text();
  });
}

TEST_CASE("a server gets its cores anew from the next daemon") {
  check_inside([](const LiveCpusets& at) {
    Faults faults;
    RunningDaemon daemon = daemon_of(at);
    LeasedCores cores(daemon);
    faults.differ(cores.lease(), at.second(), "the lease");
    daemon.kill_now();
    cores.provider.maintain();
    faults.unless(cores.provider.has_cores(), "lost with the daemon");
    daemon.start();
    ReservationClient client(daemon);
    faults.unless(cores.maintains_until(client, [&] { return client.server->accounts().size() == 1; }),
                  "not asked anew");
    faults.unless(cores.provider.has_cores() && !cores.provider.is_revoked(at.cores[1]), "taken for lost");
    return faults.text();
  });
}

TEST_CASE("cores that were taken back and went to another are revoked where they are required") {
  check_inside([](const LiveCpusets& at) {
    Faults faults;
    Sleeper other;
    RunningDaemon daemon = daemon_of(at);
    LeasedCores cores(daemon, true);
    faults.differ(cores.lease(at.cores).size(), std::size_t{0}, "more than there are");
    faults.differ(cores.lease(), at.second(), "the lease");
    ReservationClient client(daemon);
    client.reserve(other.pid(), 1, true);
    client.server->release(client.server->accounts().at(0).reservation());
    faults.unless(cores.maintains_until(client, [&] { return cores.provider.is_revoked(at.cores[1]); }), "not revoked");
    faults.unless(!cores.provider.is_revoked(at.cores[0]), "another core is revoked");
    return faults.text();
  });
}

TEST_CASE("a server that finds no daemon takes cores by the ledger alone, unless it requires them") {
  const Quiet quiet;
  const TempDirectory directory;
  const auto provider = [&](bool required) {
    return core::ReservedCores(std::make_unique<dispatch::UnguardedCores>(os::Topology::detect().value()),
                               {.sockets = {directory / "none"}, .required = required});
  };
  CHECK(provider(false).lease({}));
  CHECK_FALSE(provider(true).lease({}));
}
