// Clients: who calls, and what that client may do. A client is a user of this host, as the kernel tells of a Unix
// socket or a channel, or else the host that the call came from; all its processes and connections count together.
//
// Threads: any; constant.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/time.h"
#include "orb/channel/access.h"
#include "orb/core/settings.h"
#include "orb/transport/connection.h"

namespace corelane::nameserver {

struct Client {
  // "user:1000" or "host:" with network_of() an address; empty: a call within the process. Without blanks.
  std::string name{};
  std::int32_t process = 0;  // 0: not known

  friend bool operator==(const Client&, const Client&) = default;
};

// What counts as one host: of an IPv6 address its network of 64 bits, all of whose addresses a host may have; else the
// address itself.
std::string network_of(const std::string& host);

// Of the request that the calling thread runs.
Client calling_client();

// A client's name for people: "user 1000", "host 192.0.2.1".
std::string text_of_client(const std::string& name);

// The names of the clients that may change every name: root and the nameserver's own user.
std::vector<std::string> privileged_clients();

// Who may change names, besides root, the nameserver's own user and the nameserver's own process: naming.writers.
class Writers {
 public:
  explicit Writers(const core::NamingSettings& settings);

  // Or why not, as a sentence with its remedy. No client: one over TCP, whose user the kernel does not know.
  Expected<void, std::string> admits(const std::optional<transport::PeerCredentials>& client,
                                     std::span<const gid_t> groups) const;
  // Admits the request that the calling thread runs, or raises NO_PERMISSION, with who may and what to do. The log says
  // it, too, now and then: other ORBs' clients see no text.
  void require() const;

 private:
  static constexpr Duration told_again = std::chrono::seconds{10};

  const channel::Access access_;
  const bool network_;  // whether clients may whose user the kernel does not know
  mutable std::atomic<Time> told_next_{Time{}};
};

}  // namespace corelane::nameserver
