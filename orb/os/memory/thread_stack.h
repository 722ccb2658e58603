// ThreadStack is memory for the stack of one thread. A guard below it catches overflows, also by large frames. Beside
// it lies a small stack on which the handler of an overflow runs.
//
//   lowest  one page, inaccessible
//           signal_stack(), signal_stack_size
//           guard, guard_size, inaccessible
//   highest usable(), where the thread runs
//
// `lazy`: pages are loaded into memory when they are used, and are never locked. Otherwise the usable part is locked if
// the process has its memory locked (mlockall), and the thread that runs on it loads it. The rest is never locked.
//
// Threads: the owner's; it outlives the thread that runs on it.
#pragma once

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <span>
#include <utility>

namespace corelane::os {

class ThreadStack {
 public:
  static constexpr std::size_t guard_size = 1024 * 1024;  // a larger frame may skip it
  static constexpr std::size_t signal_stack_size = 64 * 1024;

  ThreadStack() = default;
  // `size`: a multiple of the page size.
  ThreadStack(std::size_t size, bool lazy) noexcept : size_(below() + size) {
    // A stack that is not lazy will be used completely, so the system must refuse it if it has no memory for it.
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | (lazy ? MAP_NORESERVE : 0);
    void* const made = mmap(nullptr, size_, PROT_NONE, flags, -1, 0);
    if (made == MAP_FAILED) return;
    lowest_ = static_cast<std::byte*>(made);
    (void)munlock(lowest_, lazy ? size_ : below());
    if (mprotect(usable().data(), size, PROT_READ | PROT_WRITE) != 0 ||
        mprotect(signal_stack().data(), signal_stack_size, PROT_READ | PROT_WRITE) != 0)
      release();
  }
  ThreadStack(const ThreadStack&) = delete;
  ThreadStack& operator=(ThreadStack&& other) noexcept {
    std::swap(lowest_, other.lowest_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~ThreadStack() { release(); }

  // Returns 0 or the error number: ENOMEM if the system gave no memory.
  int give_to(pthread_attr_t& attributes) const noexcept {
    return lowest_ == nullptr ? ENOMEM : pthread_attr_setstack(&attributes, usable().data(), usable().size());
  }
  // The following require a stack that has memory.
  std::span<std::byte> usable() const noexcept { return {lowest_ + below(), size_ - below()}; }
  std::span<std::byte> guard() const noexcept { return {lowest_ + page() + signal_stack_size, guard_size}; }
  std::span<std::byte> signal_stack() const noexcept { return {lowest_ + page(), signal_stack_size}; }

 private:
  static std::size_t page() noexcept { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }
  static std::size_t below() noexcept { return page() + signal_stack_size + guard_size; }
  void release() noexcept {
    if (lowest_ != nullptr) munmap(std::exchange(lowest_, nullptr), size_);
  }
  std::byte* lowest_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace corelane::os
