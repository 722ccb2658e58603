// Limits bounds what a peer can make this process store or scan. The values are in the configuration table `limits.*`.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "orb/base/time.h"

namespace corelane::giop {

struct Limits {
  std::size_t message_size = 16 * 1024 * 1024;       // bytes of a message with its header, after reassembly
  std::uint32_t fragments = 16'384;                  // fragments of one message, including the first
  std::uint32_t fragmented_messages = 16;            // messages in reassembly at the same time on one connection
  std::size_t fragment_bytes = 32 * 1024 * 1024;     // bytes in reassembly on one connection
  Duration fragment_age = std::chrono::seconds{30};  // between a message's first fragment and its last
  std::uint32_t contexts = 64;                       // service contexts of one message
  std::uint32_t profiles = 64;                       // profiles of one reference
  std::uint32_t components = 64;                     // components of one profile
};

}  // namespace corelane::giop
