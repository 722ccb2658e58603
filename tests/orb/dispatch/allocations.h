// Counts the allocations of each thread of the test program, and makes chosen ones fail. Not available with a sanitizer
// that has its own operator new.
#pragma once

#include <cstddef>

namespace corelane::dispatch::test {

// Returns whether allocations are counted in this build. If not, prints that the test is skipped.
bool allocations_are_counted();
// Returns how many allocations the calling thread has made so far.
std::size_t allocations() noexcept;

// While it lives, the n-th allocation (from 0) of the calling thread fails; with `lasting`, all later ones fail, too.
class FailingAllocation {
 public:
  FailingAllocation(std::size_t n, bool lasting) noexcept;
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;
  ~FailingAllocation();

  bool happened() const noexcept;
};

}  // namespace corelane::dispatch::test
