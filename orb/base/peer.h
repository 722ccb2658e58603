// A PeerId identifies a connection and its holder. Limits for peers count by holder: a host, or a user of this host. A
// holder may open any number of connections.
//
//   bits 0..39    the number of the connection, never 0
//   bits 40..62   the number of its holder, assigned while it has connections; 0: unknown, so the connection itself
//   bit 63        the kernel confirms that the holder is this process's own user, or root
#pragma once

#include <cstdint>

#include "orb/base/ids.h"

namespace corelane {

inline constexpr int peer_connection_bits = 40;
inline constexpr std::uint32_t most_holders = (1U << (63 - peer_connection_bits)) - 1;
inline constexpr std::uint64_t own_user_bit = std::uint64_t{1} << 63;

constexpr PeerId peer_of(std::uint64_t connection, std::uint32_t holder, bool of_own_user = false) noexcept {
  return PeerId{connection | std::uint64_t{holder} << peer_connection_bits | (of_own_user ? own_user_bit : 0)};
}

// Returns whether the holder is this process's user or root. Their processes could stop this one anyway, so limits that
// protect against other users do not apply to them.
constexpr bool is_of_own_user(PeerId peer) noexcept { return (peer.value & own_user_bit) != 0; }

// Returns the peer without its holder, as reports show it.
constexpr PeerId connection_of(PeerId peer) noexcept {
  return PeerId{peer.value & ((std::uint64_t{1} << peer_connection_bits) - 1)};
}

constexpr bool same_holder(PeerId a, PeerId b) noexcept {
  const auto holder_of = [](PeerId peer) { return (peer.value & ~own_user_bit) >> peer_connection_bits; };
  return holder_of(a) == 0 ? a == b : holder_of(a) == holder_of(b);
}

}  // namespace corelane
