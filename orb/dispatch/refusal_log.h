// RefusalLog: who was refused admission lately, how often, and why. All clients who asked for tasks of their own of one
// label (an operation, mostly) are one row, with the reason of the latest: one that asks again and again, by connection
// after connection, has one. The process' own task of the label has another.
//
// Threads: whoever decides about newcomers records, one at a time; any thread reads a copy. The lock inherits priority
// and is held for a look at all rows. All room is taken at the start.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "orb/base/contract.h"
#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/os/pi_mutex.h"
#include "orb/sched/refusal.h"

namespace corelane::dispatch {

// Of the latest refusal, but for the count.
struct RefusedNewcomer {
  std::string label;
  PeerId owner{};
  Contract contract{};
  sched::Refusal why{};
  Time asked{};
  std::uint64_t times = 0;  // since the row began: one that was forgotten begins anew
};

class RefusalLog {
 public:
  static constexpr std::size_t most = 64;          // rows; for one more the one that was refused longest ago goes
  static constexpr std::size_t label_length = 95;  // of longer labels the beginning is kept, and tells them apart

  RefusalLog() : rows_(most) {}

  // Allocates nothing.
  void record(std::string_view label, PeerId owner, const Contract& contract, const sched::Refusal& why,
              Time asked) noexcept;
  // The newest first. Not for real-time threads.
  std::vector<RefusedNewcomer> latest() const;

 private:
  struct Row {
    std::string_view name() const noexcept { return {label.data(), length}; }

    std::array<char, label_length> label{};
    std::size_t length = 0;
    PeerId owner{};
    Contract contract{};
    sched::Refusal why{};
    Time asked{};
    std::uint64_t times = 0;  // 0: free
    std::uint64_t turn = 0;   // of its latest refusal
  };
  Row& row_of(std::string_view label, PeerId owner) noexcept;

  mutable os::PiMutex mutex_;
  std::vector<Row> rows_;    // guarded by mutex_
  std::uint64_t turns_ = 0;  // guarded by mutex_
};

}  // namespace corelane::dispatch
