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

// What a thread did per 1,000 instructions. Not each processor counts the last two, or has enough counters for them.
struct CacheMetrics {
  double accesses = 0;             // to the last-level cache
  std::optional<double> misses{};  // of these accesses
  std::optional<double> stalls{};  // cycles in which the processor waited
};

class CacheCounters {
 public:
  // Starts to count the thread with this number of the kernel; 0: the calling thread. The error says why it cannot, and
  // what to do.
  static Expected<CacheCounters, std::string> of_thread(int thread);

  // Returns the accesses per 1,000 instructions since the start, rounded to the nearest number. Returns nothing if the
  // thread executed fewer than 1,000 instructions meanwhile, or was not counted the whole time it ran.
  std::optional<std::uint16_t> intensity() const;
  // Returns all that is counted since the start; nothing in the same cases. Misses and stalls may be missing alone.
  std::optional<CacheMetrics> metrics() const;

 private:
  CacheCounters(Fd instructions, Fd accesses)
      : instructions_(std::move(instructions)), accesses_(std::move(accesses)) {}

  // The kernel counts a group as a whole or not at all. So what not each processor can count beside the accesses is in
  // a second group. The instructions lead each group.
  Fd instructions_, accesses_;
  Fd more_instructions_{}, misses_{}, stalls_{};  // empty if there are no such counters
};

// Returns the accesses per 1,000 instructions, rounded to the nearest number, and at most 65,535.
std::uint16_t intensity_of(std::uint64_t accesses, std::uint64_t instructions) noexcept;

}  // namespace corelane::os
