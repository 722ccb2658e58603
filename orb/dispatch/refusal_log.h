// RefusalLog keeps the latest refusals of admission: which, how often, and why. All clients that asked for tasks of one
// label (an operation, mostly) share one row, with the reason of the latest refusal. So a client that asks again and
// again over new connections has one row. The process's own task of the label has another row. It is no Recent, because
// one client that is refused often would displace all other rows there.
//
// Threads: the thread that decides about new tasks records, one at a time; any thread reads a copy. The lock has
// priority inheritance and is held while all rows are looked at. All memory is allocated at the start.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "orb/base/contract.h"
#include "orb/base/ids.h"
#include "orb/base/thread_safety.h"
#include "orb/base/time.h"
#include "orb/os/pi_mutex.h"
#include "orb/sched/refusal.h"

namespace corelane::dispatch {

// Describes the latest refusal, except for `times`.
struct RefusedAdmission {
  std::string label;
  PeerId owner{};
  Contract contract{};
  sched::Refusal why{};
  Time asked{};
  std::uint64_t times = 0;  // since the row began; a row that was replaced begins again
};

class RefusalLog {
 public:
  static constexpr std::size_t most = 64;          // rows; one more replaces the row with the oldest refusal
  static constexpr std::size_t label_length = 95;  // longer labels are cut to this, and compared by it

  RefusalLog() : rows_(most) {}

  // Allocates nothing.
  void record(std::string_view label, PeerId owner, const Contract& contract, const sched::Refusal& why,
              Time asked) noexcept;
  // Returns the rows, the newest first. Not for real-time threads.
  std::vector<RefusedAdmission> latest() const;

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
    std::uint64_t turn = 0;   // the number of its latest refusal
  };
  Row& row_of(std::string_view label, PeerId owner) noexcept CORELANE_REQUIRES(mutex_);

  mutable os::PiMutex mutex_;
  std::vector<Row> rows_ CORELANE_GUARDED_BY(mutex_);
  std::uint64_t turns_ CORELANE_GUARDED_BY(mutex_) = 0;
};

}  // namespace corelane::dispatch
