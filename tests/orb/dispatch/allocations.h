// Allocations of the test program: counted for each thread, and failing where a test wants them to. Not under a
// sanitizer that brings its own operator new.
#pragma once

#include <cstddef>

namespace corelane::dispatch::test {

// Whether allocations are seen at all; else says that the test is skipped.
bool allocations_are_counted();
// Of this thread, so far.
std::size_t allocations() noexcept;

// As long as it lives, of this thread's allocations the n-th (from 0) fails; or it and all that follow.
class FailingAllocation {
 public:
  FailingAllocation(std::size_t n, bool lasting) noexcept;
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;
  ~FailingAllocation();

  bool happened() const noexcept;
};

}  // namespace corelane::dispatch::test
