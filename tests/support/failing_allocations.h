// Counts the allocations of each thread of a test program, and makes chosen ones fail. One file of such a program
// replaces the operators new, which ask refuses_allocation(). Not available with a sanitizer that has its own operator
// new.
#pragma once

#include <array>
#include <cstddef>
#include <iostream>
#include <memory>

namespace corelane::testing {

struct ChosenAllocations {
  std::size_t bytes = 0;  // only allocations of so many bytes; 0: of any size
  std::size_t first = 0;  // the number of the first one that fails, from 0
  bool lasting = true;    // all later ones fail, too
};

namespace detail {
struct AllocationWatch {
  std::size_t seen = 0;
  std::size_t matched = 0;  // of the chosen size, since they were chosen
  ChosenAllocations chosen{};
  bool active = false;
  bool happened = false;
};
inline constinit thread_local AllocationWatch allocation_watch{};
}  // namespace detail

// FailingAllocations makes allocations of the calling thread fail as long as it lives. One at a time for each thread.
class FailingAllocations {
 public:
  FailingAllocations() noexcept : FailingAllocations(ChosenAllocations{}) {}  // all fail
  explicit FailingAllocations(const ChosenAllocations& chosen) noexcept {
    const std::size_t seen = detail::allocation_watch.seen;
    detail::allocation_watch = {.seen = seen, .chosen = chosen, .active = true};
  }
  FailingAllocations(const FailingAllocations&) = delete;
  FailingAllocations& operator=(const FailingAllocations&) = delete;
  ~FailingAllocations() { detail::allocation_watch.active = false; }

  // Returns whether an allocation has failed.
  bool happened() const noexcept { return detail::allocation_watch.happened; }
};

// Returns how many allocations the calling thread has made so far.
inline std::size_t allocations() noexcept { return detail::allocation_watch.seen; }

// Counts an allocation of the calling thread. Returns whether it has to fail. For the operators new.
inline bool refuses_allocation(std::size_t bytes) noexcept {
  detail::AllocationWatch& watch = detail::allocation_watch;
  const ChosenAllocations& chosen = watch.chosen;
  ++watch.seen;
  if (!watch.active || (chosen.bytes != 0 && chosen.bytes != bytes)) return false;
  const std::size_t number = watch.matched++;
  if (number < chosen.first || (number > chosen.first && !chosen.lasting)) return false;
  return watch.happened = true;
}

// Returns whether allocations are counted in this build. If not, prints that the test is skipped.
inline bool allocations_are_counted() {
  const std::size_t before = allocations();
  const auto something = std::make_unique<std::array<char, 64>>();
  something->fill(1);
  if (allocations() > before) return true;
  std::cout << "SKIPPED: the sanitizer's operator new is in use, allocations are not counted\n";
  return false;
}

}  // namespace corelane::testing
