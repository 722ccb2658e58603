// LazyStack: memory for the stack of one thread, which comes into memory as it is used and is never locked there.
//
// Where a process has its memory locked (mlockall), a stack of pthread_create() is brought into memory whole. This one
// is not: it is unlocked before anything of it may be touched. The lowest page stays inaccessible, as a guard.
//
// Threads: the owner's; it outlives the thread that runs on it.
#pragma once

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <utility>

namespace corelane::os {

class LazyStack {
 public:
  LazyStack() = default;
  explicit LazyStack(std::size_t size) noexcept : size_(size + page()) {
    void* const made = mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED) return;
    lowest_ = made;
    (void)munlock(lowest_, size_);
    if (mprotect(usable(), size, PROT_READ | PROT_WRITE) != 0) release();
  }
  LazyStack(const LazyStack&) = delete;
  LazyStack& operator=(LazyStack&& other) noexcept {
    std::swap(lowest_, other.lowest_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~LazyStack() { release(); }
  // 0, or the error number: ENOMEM where the system gave no memory.
  int give_to(pthread_attr_t& attributes) const noexcept {
    return lowest_ == nullptr ? ENOMEM : pthread_attr_setstack(&attributes, usable(), size_ - page());
  }

 private:
  static std::size_t page() noexcept { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }
  void* usable() const noexcept { return static_cast<std::byte*>(lowest_) + page(); }
  void release() noexcept {
    if (lowest_ != nullptr) munmap(std::exchange(lowest_, nullptr), size_);
  }
  void* lowest_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace corelane::os
