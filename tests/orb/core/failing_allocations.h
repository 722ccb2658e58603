// FailingAllocations makes allocations of the calling thread fail. no_memory_test.cpp replaces the operators new.
#pragma once

#include <cstddef>

namespace corelane::testing {

// While it lives, the calling thread's allocations of `bytes` bytes fail; 0: all of them do. Not available with a
// sanitizer that has its own operator new.
class FailingAllocations {
 public:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  explicit FailingAllocations(std::size_t bytes = 0) noexcept { size_ = bytes; }
  FailingAllocations(const FailingAllocations&) = delete;
  FailingAllocations& operator=(const FailingAllocations&) = delete;
  ~FailingAllocations() { size_ = none; }

  static bool refuses(std::size_t bytes) noexcept { return size_ != none && (size_ == 0 || size_ == bytes); }

 private:
  static inline thread_local std::size_t size_ = none;
};

}  // namespace corelane::testing
