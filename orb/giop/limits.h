// Limits: what a peer may make this process hold or walk through. Values of the configuration table `limits.*`.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "orb/base/time.h"

namespace corelane::giop {

struct Limits {
  std::size_t message_size = 16 * 1024 * 1024;       // one message with its header, after reassembly
  std::uint32_t fragments = 16'384;                  // that one message may come in, the first included
  std::uint32_t fragmented_messages = 16;            // under reassembly at one time on one connection
  std::size_t fragment_bytes = 32 * 1024 * 1024;     // under reassembly on one connection
  Duration fragment_age = std::chrono::seconds{30};  // from a message's first fragment to its last
  std::uint32_t contexts = 64;                       // service contexts of one message
  std::uint32_t profiles = 64;                       // of one reference
  std::uint32_t components = 64;                     // of one profile
};

}  // namespace corelane::giop
