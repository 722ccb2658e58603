// StackOverflowReport: says on standard error which thread's stack overflowed, before the process ends by SIGSEGV.
//
// The first report installs a handler of SIGSEGV for the process, which hands every fault on to the handler that was
// there before, or lets the process end as it would have. Each thread that has a report has a signal stack of its own.
// Sanitizers have a report of overflows of their own, so there is none of ours under them.
//
// Threads: made and destroyed on the thread that it is about.
#pragma once

#include <cstddef>
#include <string_view>

#include "orb/base/sanitizer.h"
#include "orb/os/thread_stack.h"

namespace corelane::os {

// Whether this build has the report.
inline constexpr bool reports_stack_overflow = CORELANE_ADDRESS_SANITIZER == 0 && CORELANE_THREAD_SANITIZER == 0;

class StackOverflowReport {
 public:
  // `setting`: what a user sets for larger stacks; a literal. Empty: no report. The stack outlives this.
  StackOverflowReport(const ThreadStack& stack, std::string_view setting) noexcept;
  StackOverflowReport(const StackOverflowReport&) = delete;
  StackOverflowReport& operator=(const StackOverflowReport&) = delete;
  ~StackOverflowReport();

  bool covers(const void* address) const noexcept { return address >= guard_begin_ && address < guard_end_; }
  // Writes the line. In the handler of a signal.
  void say() const noexcept;

 private:
  const void* const guard_begin_;
  const void* const guard_end_;
  const std::size_t size_;  // of the stack
  const std::string_view setting_;
};

}  // namespace corelane::os
