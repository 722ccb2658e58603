// ForeignCalls: how many calls go into contexts of other servers at one time, and how long each may take. A server that
// takes calls and never answers would otherwise stop this one for everybody, a thread for each call.
//
// Threads: any.
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <string>

#include "orb/base/time.h"
#include "orb/core/call_deadline.h"

namespace corelane::nameserver {

struct ForeignLimits {
  std::size_t calls = 16;  // at one time
  Duration time = std::chrono::seconds{3};
};

class ForeignCalls {
 public:
  explicit ForeignCalls(const ForeignLimits& limits) : limits_(limits) {}

  // The right to one call, on this thread, which ends in time.
  class Turn {
   public:
    explicit Turn(ForeignCalls& calls);
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    // False: as many are under way as may be. The log has been told.
    explicit operator bool() const noexcept { return bound_.has_value(); }

   private:
    // Apart, so that it ends also where the rest of a Turn cannot be made.
    struct Counted {
      explicit Counted(ForeignCalls& counting);
      Counted(const Counted&) = delete;
      Counted& operator=(const Counted&) = delete;
      ~Counted();

      ForeignCalls& calls;
      const bool is_one_of_few;
    };

    const Counted counted_;
    std::optional<core::CallDeadline> bound_;
  };

  // Into the log, now and then.
  void tell(const std::string& what);

 private:
  static constexpr Duration told_again = std::chrono::seconds{10};

  const ForeignLimits limits_;
  std::atomic<std::size_t> under_way_{0};
  std::atomic<Time> told_next_{Time{}};
};

}  // namespace corelane::nameserver
