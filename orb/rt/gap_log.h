// GapLog records gaps: intervals in which a core did not run the program, and that no thread of the program explains.
// The host took the processor away, an interrupt ran, or another program ran at a higher priority. The gaps are the
// evidence by which a deadline miss may be excused. On virtual machines neither steal time nor a thread's CPU time
// shows such gaps. So the program has to watch the clock itself: work() does it inside jobs, StallWatch between them.
//
// Threads: any number may record, without locks and without allocation. external_time() may run at the same time and
// sees what was recorded before. Bound: `capacity` gaps; later ones are counted and dropped.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "orb/base/ids.h"
#include "orb/base/time.h"

namespace corelane::rt {

enum class GapCause : std::uint8_t {
  machine,    // the host, an interrupt, or a program of higher priority: excuses the delay it caused
  preempted,  // the guest's scheduler ran another thread: excuses nothing
  throttled,  // the kernel leaves a part of each second to ordinary threads, and real-time threads wanted more: excuses
              // nothing. sched(7), "Limiting the CPU usage of real-time and deadline processes"
};

struct Gap {
  Time begin;
  Duration length;
  CoreId core;
  GapCause cause = GapCause::machine;
  std::uint32_t switches = 0;  // how often the thread that saw it lost its core meanwhile, involuntarily
};

class GapLog {
 public:
  explicit GapLog(std::size_t capacity);

  void record(const Gap& gap) noexcept;

  // Returns how much of [from, to) is covered by gaps of `core` with cause `machine`. Overlapping gaps count once.
  // Allocates; not for real-time threads.
  Duration external_time(CoreId core, Time from, Time to) const;

  std::vector<Gap> gaps() const;
  std::uint64_t dropped() const noexcept;

 private:
  struct Slot {
    Gap gap{};
    std::atomic<bool> written{false};
  };

  std::vector<Slot> slots_;
  std::atomic<std::uint64_t> next_{0};
};

}  // namespace corelane::rt
