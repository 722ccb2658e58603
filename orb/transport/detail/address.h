// Address is a socket address. These functions convert an Endpoint to addresses, and back.
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

// Returns the address of a socket's file. `path` is absolute and has at most longest_unix_path bytes.
Address unix_address(const std::string& path) noexcept;
// Returns whether the endpoint is of that kind and its path is valid for a socket's file.
bool names_socket(const Endpoint& endpoint, const TransportKind& kind) noexcept;
// Logs "cannot listen at <prefix><path>: why", and returns the error.
Error logged(const os::PathRefusal& refusal, const TransportKind& kind);

// Returns the endpoint of a socket's address, as its kind describes it. An endpoint of TCP without host and port if no
// kind knows the family.
Endpoint endpoint_of(const Address& address);

enum class AddressUse { connect, listen };

// Returns every address of a TCP endpoint, best first, never an empty list. For listening, "" means everywhere.
// Errors: TRANSIENT unknown_host if there is no address; for listening BAD_PARAM bad_address. TRANSIENT no_name_service
// if the name service gives no answer now. TIMEOUT deadline_passed. `stop` ends the wait for a name service with
// connect_failed; null: nothing stops it.
Expected<std::vector<Address>> resolve(const Endpoint& endpoint, AddressUse use, Time deadline,
                                       const ConnectStop* stop = nullptr);

}  // namespace corelane::transport
