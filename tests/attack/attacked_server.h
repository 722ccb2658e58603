// AttackedServer: a server process with default settings, and the good clients that have to be served while it is
// attacked. Everything is counted; nothing is measured in time.
//
// Threads: one.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "orb/core/address.h"
#include "orb/core/reference.h"
#include "orb/giop/ior.h"
#include "orb/os/child_process.h"
#include "orb/os/clock.h"
#include "orb/transport/endpoint.h"
#include "tests/support/from_environment.h"
#include "tests/support/probe_peer.h"
#include "tests/support/probe_servant.h"
#include "tests/support/quiet.h"
#include "tests/support/temp_directory.h"

namespace corelane::attack {

inline constexpr std::size_t mib = 1024 * 1024;
// A machine may stall: only a server that never recovers takes as long.
inline constexpr std::chrono::seconds far_too_long{100};

// Calls of each good client in each case.
inline int good_calls() { return static_cast<int>(testing::from_environment("CORELANE_ATTACK_CALLS", 100)); }

// A client that is not expected to wait for long, on a machine that may stall.
struct GoodOrb : testing::TestOrb {
  GoodOrb() : testing::TestOrb({"-ORBTimeoutRequest", "100s", "-ORBTimeoutConnect", "100s"}) {}
};

class AttackedServer {
 public:
  // What its process holds.
  struct Held {
    std::size_t descriptors = 0, threads = 0;
  };

  AttackedServer()
      : process_({os::program_beside("corelane-attack-server"), "serve", "-ORBRuntimeDirectory", directory_ / "run",
                  "-ORBLogLevel", "off"}),
        ior(process_.read_line().value_or("")),
        endpoints_(transport::parse_endpoints(process_.read_line().value_or("")).value()) {
    const auto reference = giop::parse_ior(ior);
    REQUIRE(reference);
    key = giop::parse_iiop(reference->profiles.at(0))->object_key;
    CHECK(serves(1));
    before_ = held();
  }

  transport::Endpoint endpoint(transport::EndpointKind kind) const {
    const auto found =
        std::find_if(endpoints_.begin(), endpoints_.end(), [&](const auto& e) { return e.kind == kind; });
    return found == endpoints_.end() ? throw std::runtime_error("the server does not listen there") : *found;
  }
  CORBA::object_reference<Probing::Probe> probe_at(testing::TestOrb& client, transport::EndpointKind kind) const {
    giop::Ior one{.type_id = "IDL:Probing/Probe:1.0", .profiles = {core::profile_of({endpoint(kind)}, key)}};
    return core::make_stub<Probing::Probe>(std::make_shared<core::Reference>(client.orb.shared(), std::move(one)));
  }
  void release() { process_.write_line("release"); }

  // Good clients call: three that stay, over each transport; one with a contract; and one that is new for each call.
  // Each stops at its first failure. Whether every call was answered.
  bool serves(int calls) const {
    bool all = true;
    for (const auto kind :
         {transport::EndpointKind::tcp, transport::EndpointKind::unix_socket, transport::EndpointKind::channel}) {
      GoodOrb client;
      all = count("a client that stays, by " + transport::to_string(endpoint(kind)), probe_at(client, kind), calls) &&
            all;
    }
    for (int i = 0; i < std::max(1, calls / 4) && all; ++i) {
      GoodOrb newcomer;
      all = count("a new client", probe_at(newcomer, transport::EndpointKind::tcp), 1);
    }
    return all && serves_contract(std::max(1, calls / 20));
  }

  Held held() const {
    const std::string process = "/proc/" + std::to_string(process_.pid());
    return {.descriptors = entries(process + "/fd"), .threads = entries(process + "/task")};
  }
  std::size_t resident() const {
    std::ifstream status("/proc/" + std::to_string(process_.pid()) + "/status");
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("VmRSS:")) return std::stoul(line.substr(6)) * 1024;
    return 0;
  }

  // Whether it holds no more than that, once it had time to give memory back.
  bool comes_down_to(std::size_t bytes) const {
    const Time latest = os::now() + far_too_long;
    while (resident() > bytes && os::now() < latest)
      std::this_thread::sleep_for(std::chrono::milliseconds{5});  // sleep: another process tells nobody
    UNSCOPED_INFO("the server holds " << resident() / mib << " MiB of " << bytes / mib);
    return resident() <= bytes;
  }

  // It lives and serves, and has its descriptors back; its threads, too, or no more than the settings allow: those
  // that serve are kept for ten seconds.
  bool recovers(bool all_threads = false) const {
    const std::size_t serving = std::max<std::size_t>(16, 4 * std::thread::hardware_concurrency()) + 64;
    const std::size_t threads = before_.threads + few + (all_threads ? 0 : serving);
    const bool served = testing::is_alive(process_) && serves(2);
    const Time latest = os::now() + far_too_long;
    Held now = held();
    while ((now.descriptors > before_.descriptors + few || now.threads > threads) && os::now() < latest) {
      std::this_thread::sleep_for(std::chrono::milliseconds{5});  // sleep: another process tells nobody
      now = held();
    }
    UNSCOPED_INFO("descriptors " << before_.descriptors << " -> " << now.descriptors << ", threads " << before_.threads
                                 << " -> " << now.threads << ", served " << served);
    return served && testing::is_alive(process_) && now.descriptors <= before_.descriptors + few &&
           now.threads <= threads;
  }

 private:
  static constexpr std::size_t few = 8;  // that are made when they are needed first, and are kept

  static std::size_t entries(const std::string& directory) {
    std::error_code gone;
    const std::filesystem::directory_iterator begin(directory, gone);
    return static_cast<std::size_t>(std::distance(begin, std::filesystem::directory_iterator{}));
  }
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
  bool serves_contract(int calls) const {
    GoodOrb client;
    const auto probe = probe_at(client, transport::EndpointKind::channel);
    int right = 0;
    try {
      while (right < calls && probe->paced(right) == right) ++right;
    } catch (const CORBA::SystemException& fault) {
      UNSCOPED_INFO(fault.what());
    }
    if (right < calls) UNSCOPED_INFO("a contract: " << right << " of " << calls << " calls");
    return right == calls;
  }

  const testing::Quiet quiet_;
  const testing::TempDirectory directory_;
  os::ChildProcess process_;
  Held before_;

 public:
  const std::string ior;
  std::vector<std::byte> key;

 private:
  const std::vector<transport::Endpoint> endpoints_;
};

}  // namespace corelane::attack
