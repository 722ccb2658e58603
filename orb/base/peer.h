// What a PeerId says: a connection, and whose it is. Limits for peers are for those whose connections they are: a host,
// or a user of this host, who may open as many connections as he likes.
//
//   bits 0..39    the number of the connection, never 0
//   bits 40..63   the number of its holder, given while it has connections; 0: not known, so the connection itself
#pragma once

#include <cstdint>

#include "orb/base/ids.h"

namespace corelane {

inline constexpr int peer_connection_bits = 40;
inline constexpr std::uint32_t most_holders = (1U << (64 - peer_connection_bits)) - 1;

constexpr PeerId peer_of(std::uint64_t connection, std::uint32_t holder) noexcept {
  return PeerId{connection | std::uint64_t{holder} << peer_connection_bits};
}

// The peer without its holder, as reports show it.
constexpr PeerId connection_of(PeerId peer) noexcept {
  return PeerId{peer.value & ((std::uint64_t{1} << peer_connection_bits) - 1)};
}

constexpr bool same_holder(PeerId a, PeerId b) noexcept {
  const std::uint64_t holder = a.value >> peer_connection_bits;
  return holder == 0 ? a == b : holder == b.value >> peer_connection_bits;
}

}  // namespace corelane
