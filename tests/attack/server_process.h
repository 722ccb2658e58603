// ServerProcess is a server of a Probe in a separate process, as an attacker and a client see it. It also reads what
// that process holds. The server prints its reference, and then where it listens. If that line is empty, it listens
// only where the reference says.
//
// Threads: one. probe_at() and endpoint(): any.
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "orb/core/client/reference.h"
#include "orb/core/connections/address.h"
#include "orb/giop/ior.h"
#include "orb/os/process/child_process.h"
#include "orb/transport/endpoint.h"
#include "tests/support/peers/probe_peer.h"
#include "tests/support/probe_servant.h"

namespace corelane::attack {

inline constexpr std::size_t mib = 1024 * 1024;

class ServerProcess {
 public:
  // What a process holds.
  struct Held {
    std::size_t descriptors = 0, threads = 0, resident = 0;
  };

  explicit ServerProcess(const std::vector<std::string>& command)
      : process_(command), ior(process_.read_line().value_or("")) {
    const auto reference = giop::parse_ior(ior);
    if (!reference) throw std::runtime_error(command[0] + " does not serve");
    const auto profile = giop::parse_iiop(reference->profiles.at(0));
    key = profile->object_key;
    const std::string listens = process_.read_line().value_or("");
    endpoints_ = listens.empty() ? std::vector{transport::Endpoint{profile->address.host, profile->address.port}}
                                 : transport::parse_endpoints(listens).value();
  }

  transport::Endpoint endpoint(const transport::TransportKind* kind) const {
    const auto found =
        std::find_if(endpoints_.begin(), endpoints_.end(), [&](const auto& e) { return e.kind == kind; });
    return found == endpoints_.end() ? throw std::runtime_error("the server does not listen there") : *found;
  }
  // Returns a reference that names only that endpoint.
  giop::Ior reference_by(const transport::TransportKind* kind) const {
    return {.type_id = "IDL:Probing/Probe:1.0", .profiles = {core::profile_of({endpoint(kind)}, key)}};
  }
  CORBA::object_reference<Probing::Probe> probe_at(testing::TestOrb& client,
                                                   const transport::TransportKind* kind) const {
    return core::make_stub<Probing::Probe>(std::make_shared<core::Reference>(client.orb.shared(), reference_by(kind)));
  }

  bool is_alive() const { return testing::is_alive(process_); }
  Held held() const {
    const std::string process = "/proc/" + std::to_string(process_.pid());
    return {.descriptors = entries(process + "/fd"), .threads = entries(process + "/task"), .resident = resident()};
  }
  std::size_t resident() const {
    std::ifstream status("/proc/" + std::to_string(process_.pid()) + "/status");
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("VmRSS:")) return std::stoul(line.substr(6)) * 1024;
    return 0;
  }
  void tell(std::string_view line) { process_.write_line(line); }
  std::string ask(std::string_view line) {
    process_.write_line(line);
    return process_.read_line().value_or("");
  }
  // Ends the server's input, and waits for its end.
  os::ExitStatus end() {
    process_.end_input();
    return process_.wait().value();
  }

 private:
  static std::size_t entries(const std::string& directory) {
    std::error_code gone;
    const std::filesystem::directory_iterator begin(directory, gone);
    return static_cast<std::size_t>(std::distance(begin, std::filesystem::directory_iterator{}));
  }

  os::ChildProcess process_;
  std::vector<transport::Endpoint> endpoints_;

 public:
  const std::string ior;
  std::vector<std::byte> key;
};

}  // namespace corelane::attack
