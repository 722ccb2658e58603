// StackOverflowReport writes to standard error which thread's stack overflowed, before SIGSEGV ends the process.
//
// The first report installs a SIGSEGV handler for the process. It passes every fault on to the previous handler, or
// lets the process end as it would have. Each thread with a report has its own signal stack. Sanitizers report
// overflows themselves, so this report is off under them.
//
// Threads: construct and destroy it on the thread that it watches.
#pragma once

#include <cstddef>
#include <string_view>

#include "orb/base/sanitizer.h"
#include "orb/os/memory/thread_stack.h"

namespace corelane::os {

// Says whether this build has the report.
inline constexpr bool reports_stack_overflow = CORELANE_ADDRESS_SANITIZER == 0 && CORELANE_THREAD_SANITIZER == 0;

class StackOverflowReport {
 public:
  // `setting`: the option that a user sets for larger stacks; a literal. Empty: no report. The stack outlives this
  // object.
  StackOverflowReport(const ThreadStack& stack, std::string_view setting) noexcept;
  StackOverflowReport(const StackOverflowReport&) = delete;
  StackOverflowReport& operator=(const StackOverflowReport&) = delete;
  ~StackOverflowReport();

  bool covers(const void* address) const noexcept { return address >= guard_begin_ && address < guard_end_; }
  // Writes the line. Called in the signal handler.
  void say() const noexcept;

 private:
  const void* const guard_begin_;
  const void* const guard_end_;
  const std::size_t size_;  // of the stack
  const std::string_view setting_;
};

}  // namespace corelane::os
