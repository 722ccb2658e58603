// ForeignCalls limits how many calls into contexts of other servers run at one time, and how long each may take. Each
// such call blocks a thread. Without the limits, a server that accepts calls but never answers would block this one for
// all clients.
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

  // Turn is the right to make one call on this thread. It sets the call's deadline.
  class Turn {
   public:
    explicit Turn(ForeignCalls& calls);
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    // Returns false when the allowed number of calls is already under way. The log says so.
    explicit operator bool() const noexcept { return bound_.has_value(); }

   private:
    // A class of its own, so that its destructor also runs if the rest of Turn's constructor throws.
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

  // Writes a warning to the log, at most every told_again.
  void tell(const std::string& what);

 private:
  static constexpr Duration told_again = std::chrono::seconds{10};

  const ForeignLimits limits_;
  std::atomic<std::size_t> under_way_{0};
  std::atomic<Time> told_next_{Time{}};
};

}  // namespace corelane::nameserver
