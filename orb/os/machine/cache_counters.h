// CacheCounters counts what one thread does in user mode: its instructions, and its accesses to the last-level cache.
// The counters are those of the processor (perf_event_open(2)). Many virtual machines have none.
//
// Threads: a value. It makes system calls.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "orb/base/expected.h"
#include "orb/os/fd.h"

namespace corelane::os {

class CacheCounters {
 public:
  // Starts to count the thread with this number of the kernel; 0: the calling thread. The error says why it cannot, and
  // what to do.
  static Expected<CacheCounters, std::string> of_thread(int thread);

  // Returns the accesses per 1,000 instructions since the start, rounded to the nearest number. Returns nothing if the
  // thread executed fewer than 1,000 instructions meanwhile, or was not counted the whole time it ran.
  std::optional<std::uint16_t> intensity() const;

 private:
  CacheCounters(Fd instructions, Fd accesses)
      : instructions_(std::move(instructions)), accesses_(std::move(accesses)) {}

  Fd instructions_;  // leads the group, so that both are counted at the same times
  Fd accesses_;
};

// Returns the accesses per 1,000 instructions, rounded to the nearest number, and at most 65,535.
std::uint16_t intensity_of(std::uint64_t accesses, std::uint64_t instructions) noexcept;

}  // namespace corelane::os
