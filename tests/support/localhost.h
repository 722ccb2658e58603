// Tells whether the name localhost has an address here.
#pragma once

#include <netdb.h>

namespace corelane::testing {

// Returns false where it has none, as in a container without /etc/hosts.
inline bool localhost_has_an_address() {
  addrinfo* found = nullptr;
  if (getaddrinfo("localhost", nullptr, nullptr, &found) != 0) return false;
  freeaddrinfo(found);
  return true;
}

}  // namespace corelane::testing
