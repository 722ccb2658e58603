// Addresses: socket addresses of an Endpoint, and back.
// Threads: any but real-time ones; resolving a name blocks up to the deadline.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <string>
#include <string_view>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/time.h"
#include "orb/os/socket_path.h"
#include "orb/transport/connect_stop.h"
#include "orb/transport/endpoint.h"

namespace corelane::transport {

struct Address {
  sockaddr_storage storage{};
  socklen_t length = sizeof(sockaddr_storage);

  int family() const noexcept { return storage.ss_family; }
  sockaddr* native() noexcept { return reinterpret_cast<sockaddr*>(&storage); }
  const sockaddr* native() const noexcept { return reinterpret_cast<const sockaddr*>(&storage); }
};

// Of a socket's file; an absolute path of at most longest_unix_path bytes.
Address unix_address(const std::string& path) noexcept;
// Whether the endpoint is of that kind and its path one of a socket's file.
bool names_socket(const Endpoint& endpoint, EndpointKind kind) noexcept;
// As a line of the log: "cannot listen at <kind>:<path>: why".
Error logged(const os::PathRefusal& refusal, std::string_view kind);

// Numbers, not names; an IPv4 address in IPv6 clothes (::ffff:127.0.0.1) becomes plain IPv4. The path
// of a Unix socket, "" where it has none.
Endpoint endpoint_of(const Address& address);

enum class AddressUse { connect, listen };

// Every address of a TCP endpoint, best first, never an empty list. For listening "" is everywhere. When there is none:
// TRANSIENT unknown_host, for listening BAD_PARAM bad_address. TRANSIENT no_name_service when the name service gives no
// answer now, TIMEOUT deadline_passed. `stop` ends the wait for a name service, with connect_failed; null: nobody does.
Expected<std::vector<Address>> resolve(const Endpoint& endpoint, AddressUse use, Time deadline,
                                       const ConnectStop* stop = nullptr);

}  // namespace corelane::transport
