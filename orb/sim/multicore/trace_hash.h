// TraceHash is an FNV-1a hash of 64 bits over what happens in a simulation.
//
// Threads: one.
#pragma once

#include <cstdint>

#include "orb/base/time.h"

namespace corelane::sim::multicore {

class TraceHash {
 public:
  enum class Event : std::uint8_t { released = 1, dispatched = 2, finished = 3 };

  void add(Time at, Event event, std::uint32_t task, std::uint32_t core) {
    add(static_cast<std::uint64_t>(at.time_since_epoch().count()));
    add(std::uint64_t{task} << 32 | std::uint64_t{core} << 8 | static_cast<std::uint64_t>(event));
  }
  std::uint64_t value() const { return hash_; }

 private:
  void add(std::uint64_t word) {
    for (int byte = 0; byte < 8; ++byte) hash_ = (hash_ ^ (word >> (8 * byte) & 0xff)) * 0x100'0000'01b3;
  }

  std::uint64_t hash_ = 0xcbf2'9ce4'8422'2325;
};

}  // namespace corelane::sim::multicore
