// AttackedServer is a server process with default settings, with the good clients that it must serve while it is
// attacked. It checks counts, and no times.
//
// Threads: one.
#pragma once

#include <sys/stat.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "orb/base/sanitizer.h"
#include "orb/os/clock.h"
#include "orb/os/process/child_process.h"
#include "orb/transport/endpoint.h"
#include "tests/attack/server_process.h"
#include "tests/support/quiet.h"
#include "tests/support/system/from_environment.h"
#include "tests/support/system/temp_directory.h"

namespace corelane::attack {

// A machine may stall. Only a server that never recovers takes this long.
inline constexpr std::chrono::seconds far_too_long{100};

// How many calls each good client makes in each case.
inline int good_calls() { return static_cast<int>(testing::from_environment("CORELANE_ATTACK_CALLS", 100)); }

// A client that should not wait for long. Its time limits allow for a machine that stalls.
struct GoodOrb : testing::TestOrb {
  GoodOrb() : testing::TestOrb({"-ORBTimeoutRequest", "100s", "-ORBTimeoutConnect", "100s"}) {}
};

class AttackedServer : public ServerProcess {
 public:
  explicit AttackedServer(const std::vector<std::string>& options = {})
      : AttackedServer(std::make_unique<testing::TempDirectory>(), options) {}

  void release() { tell("release"); }
  // Returns the most threads that the settings allow: best_effort.threads, and best_effort.waiting more.
  std::size_t most_threads() const {
    return before_.threads + few + std::max<std::size_t>(16, 4 * std::thread::hardware_concurrency()) + 1 + 64;
  }

  // Makes calls of good clients: three that stay, one over each transport, one with a contract, and one that is new for
  // each call. Each stops at its first failure. Returns whether every call was answered.
  bool serves(int calls) {
    bool all = true;
    for (const auto kind : {&transport::kinds::tcp, &transport::kinds::unix_socket, &transport::kinds::channel}) {
      GoodOrb client;
      all = count("a client that stays, by " + transport::to_string(endpoint(kind)), probe_at(client, kind), calls) &&
            all;
    }
    for (int i = 0; i < std::max(1, calls / 4) && all; ++i) {
      GoodOrb new_client;
      all = count("a new client", probe_at(new_client, &transport::kinds::tcp), 1);
    }
    return all && serves_contract(std::max(1, calls / 20));
  }

  // Makes long calls of good clients over TCP and over a Unix socket. Returns whether every call was answered.
  bool serves_long(int calls, std::size_t size) {
    const std::string text(size, 'n');
    bool all = true;
    for (const auto kind : {&transport::kinds::tcp, &transport::kinds::unix_socket}) {
      GoodOrb client;
      const auto probe = probe_at(client, kind);
      all = count("a client of long calls, by " + transport::to_string(endpoint(kind)), probe, 1) && all;
      try {
        for (int i = 0; i < calls; ++i) probe->name(text);
      } catch (const CORBA::SystemException& fault) {
        UNSCOPED_INFO(fault.what());
        all = false;
      }
    }
    return all;
  }

  // Returns whether each job of a contract since the last time ended within its deadline, without the time that the
  // machine took from the cores. Always returns true if the cores cannot be watched. The same applies under a
  // sanitizer, which makes jobs exceed their budgets.
  bool keeps_bounds() {
    std::istringstream line(ask("jobs"));
    std::size_t jobs = 0, late = 0;
    std::int64_t worst = 0;
    bool watched = false;
    if (!(line >> jobs >> late >> worst >> watched)) return false;
    if (late > 0)
      UNSCOPED_INFO(late << " of " << jobs << " jobs of a contract were late; one took " << worst
                         << " us more than its bound");
    return late == 0 || !watched || CORELANE_ADDRESS_SANITIZER || CORELANE_THREAD_SANITIZER;
  }

  // Returns whether the server comes to hold no more than that, once it has had time to give memory back.
  bool comes_down_to(std::size_t bytes) const {
    const Time latest = os::now() + far_too_long;
    while (resident() > bytes && os::now() < latest)
      std::this_thread::sleep_for(std::chrono::milliseconds{5});  // sleep: another process sends no event
    UNSCOPED_INFO("the server holds " << resident() / mib << " MiB of " << bytes / mib);
    return resident() <= bytes;
  }

  // Returns whether the server lives and serves, and has its descriptors and threads back. Without `all_threads`, it
  // may have as many threads as the settings allow, because threads that serve are kept for ten seconds.
  bool recovers(bool all_threads = false) {
    const std::size_t threads = all_threads ? before_.threads + few : most_threads();
    const bool served = is_alive() && serves(2);
    const Time latest = os::now() + far_too_long;
    Held now = held();
    while ((now.descriptors > before_.descriptors + few || now.threads > threads) && os::now() < latest) {
      std::this_thread::sleep_for(std::chrono::milliseconds{5});  // sleep: another process sends no event
      now = held();
    }
    UNSCOPED_INFO("descriptors " << before_.descriptors << " -> " << now.descriptors << ", threads " << before_.threads
                                 << " -> " << now.threads << ", served " << served);
    return served && is_alive() && now.descriptors <= before_.descriptors + few && now.threads <= threads;
  }

 private:
  static constexpr std::size_t few = 8;  // descriptors or threads that are made at first need and then kept

  static bool count(const std::string& who, const CORBA::object_reference<Probing::Probe>& probe, int calls) {
    int right = 0;
    try {
      while (right < calls && probe->add(right, 1) == right + 1) ++right;
    } catch (const CORBA::SystemException& fault) {
      UNSCOPED_INFO(fault.what());
    }
    if (right < calls) UNSCOPED_INFO(who << ": " << right << " of " << calls << " calls");
    return right == calls;
  }
  bool serves_contract(int calls) {
    GoodOrb client;
    const auto probe = probe_at(client, &transport::kinds::channel);
    int right = 0;
    try {
      while (right < calls && probe->paced(right) == right) ++right;
    } catch (const CORBA::SystemException& fault) {
      UNSCOPED_INFO(fault.what());
    }
    if (right < calls) UNSCOPED_INFO("a contract: " << right << " of " << calls << " calls");
    return right == calls && keeps_bounds();
  }

  AttackedServer(std::unique_ptr<testing::TempDirectory> directory, const std::vector<std::string>& options)
      : ServerProcess(command(*directory, options)), directory_(std::move(directory)) {
    CHECK(serves(1));
    before_ = held();
  }
  static std::vector<std::string> command(const testing::TempDirectory& directory,
                                          const std::vector<std::string>& options) {
    REQUIRE(::chmod(directory.path().c_str(), 0755) == 0);  // so that other users reach its sockets
    std::vector<std::string> words{os::program_beside("corelane-attack-server"),
                                   "serve",
                                   "-ORBRuntimeDirectory",
                                   directory / "run",
                                   "-ORBLogLevel",
                                   "off"};
    words.insert(words.end(), options.begin(), options.end());
    return words;
  }

  const testing::Quiet quiet_;
  const std::unique_ptr<testing::TempDirectory> directory_;
  Held before_;
};

}  // namespace corelane::attack
