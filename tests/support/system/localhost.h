// Tells what addresses the name localhost has here.
#pragma once

#include <netdb.h>
#include <sys/socket.h>

#include <memory>
#include <set>
#include <string>

#include "orb/os/fd.h"

namespace corelane::testing {

// Returns false where it has none, as in a container without /etc/hosts.
inline bool localhost_has_an_address() {
  addrinfo* found = nullptr;
  if (getaddrinfo("localhost", nullptr, nullptr, &found) != 0) return false;
  freeaddrinfo(found);
  return true;
}

// Returns those at which a program can listen here, such as 127.0.0.1 and ::1.
inline std::set<std::string> usable_addresses_of_localhost() {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* raw = nullptr;
  if (getaddrinfo("localhost", "0", &hints, &raw) != 0) return {};
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> list(raw, &freeaddrinfo);
  std::set<std::string> usable;
  for (const addrinfo* entry = list.get(); entry != nullptr; entry = entry->ai_next) {
    const os::Fd probe(socket(entry->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!probe || bind(probe.get(), entry->ai_addr, entry->ai_addrlen) != 0) continue;
    char host[NI_MAXHOST] = "";
    getnameinfo(entry->ai_addr, entry->ai_addrlen, host, sizeof host, nullptr, 0, NI_NUMERICHOST);
    usable.insert(host);
  }
  return usable;
}

}  // namespace corelane::testing
