// Whether the name localhost means anything here.
#pragma once

#include <netdb.h>

namespace corelane::testing {

// A container may have no /etc/hosts.
inline bool localhost_has_an_address() {
  addrinfo* found = nullptr;
  if (getaddrinfo("localhost", nullptr, nullptr, &found) != 0) return false;
  freeaddrinfo(found);
  return true;
}

}  // namespace corelane::testing
