// Makes listening Unix sockets of this process's user, and of another one.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <string>

#include "orb/os/fd.h"
#include "orb/os/socket_path.h"

namespace corelane::testing {

inline constexpr uid_t another_user = 65'533;

inline os::Fd bound_socket(const std::string& path) {
  os::Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto address = os::unix_address(path);
  REQUIRE(address);
  REQUIRE(::bind(socket.get(), address->generic(), address->length) == 0);
  return socket;
}

inline os::Fd listening_socket(const std::string& path) {
  os::Fd socket = bound_socket(path);
  REQUIRE(::listen(socket.get(), 8) == 0);
  return socket;
}

// The kernel reports the credentials of the moment of listen(). For root.
inline os::Fd other_users_socket(const std::string& path) {
  os::Fd socket = bound_socket(path);
  REQUIRE(::seteuid(another_user) == 0);
  const int done = ::listen(socket.get(), 8);
  REQUIRE(::seteuid(0) == 0);
  REQUIRE(done == 0);
  return socket;
}

}  // namespace corelane::testing
