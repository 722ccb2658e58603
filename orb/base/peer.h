// What a PeerId says: a connection, and whose it is. Limits for peers are for those whose connections they are: a host,
// or a user of this host, who may open as many connections as he likes.
//
//   bits 0..39    the number of the connection, never 0
//   bits 40..62   the number of its holder, given while it has connections; 0: not known, so the connection itself
//   bit 63        the kernel vouches that the holder is this process's own user, or root
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

// Processes of this one's user, and of root, could stop it altogether: limits that guard against strangers spare them.
constexpr bool is_of_own_user(PeerId peer) noexcept { return (peer.value & own_user_bit) != 0; }

// The peer without its holder, as reports show it.
constexpr PeerId connection_of(PeerId peer) noexcept {
  return PeerId{peer.value & ((std::uint64_t{1} << peer_connection_bits) - 1)};
}

constexpr bool same_holder(PeerId a, PeerId b) noexcept {
  const auto holder_of = [](PeerId peer) { return (peer.value & ~own_user_bit) >> peer_connection_bits; };
  return holder_of(a) == 0 ? a == b : holder_of(a) == holder_of(b);
}

}  // namespace corelane
