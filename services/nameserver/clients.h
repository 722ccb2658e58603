// Client identifies the caller of a request; Writers decides which clients may change names. A client is a user of this
// host if the kernel reports one, for a Unix socket or a channel. Otherwise it is the host that the call came from. All
// processes and connections of a client count together.
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
#include "orb/transport/connection.h"
#include "services/nameserver/settings.h"

namespace corelane::nameserver {

struct Client {
  // "user:1000", or "host:" and the text of network_of(). Empty for a call within the process. Has no spaces.
  std::string name{};
  std::int32_t process = 0;  // 0: not known

  friend bool operator==(const Client&, const Client&) = default;
};

// Returns what counts as one host. For an IPv6 address this is its /64 network, because one host may have all of its
// addresses. Otherwise it is the address itself.
std::string network_of(const std::string& host);

// Returns the client of the request that the calling thread runs.
Client calling_client();

// Returns a client's name in the form for people: "user 1000", "host 192.0.2.1".
std::string text_of_client(const std::string& name);

// Returns the names of the clients that may change every name: root and the nameserver's own user.
std::vector<std::string> privileged_clients();

// Writers decides which clients may change names, as naming.writers says. Root, the nameserver's own user and the
// nameserver's own process always may.
class Writers {
 public:
  explicit Writers(const NameserverSettings& settings);

  // Admits the client, or returns why not, as a sentence with its remedy. No client means a client over TCP, whose user
  // the kernel does not know.
  Expected<void, std::string> admits(const std::optional<transport::PeerCredentials>& client,
                                     std::span<const gid_t> groups) const;
  // Admits the request that the calling thread runs. Otherwise raises NO_PERMISSION, with a text that says which
  // clients may change names and what to do. The log says it too, at most every told_again, because clients of other
  // ORBs see no text.
  void require() const;

 private:
  static constexpr Duration told_again = std::chrono::seconds{10};

  const channel::Access access_;
  const bool network_;  // whether clients may change names if the kernel does not know their user
  mutable std::atomic<Time> told_next_{Time{}};
};

}  // namespace corelane::nameserver
