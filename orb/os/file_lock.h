// Locks on ranges of a file that belong to the open file description (F_OFD_SETLK): the kernel drops them when its last
// descriptor closes, also after kill -9, and two descriptions in one process exclude each other as two processes do.
// Threads: any; lock() waits and is not for real-time threads.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "orb/base/expected.h"
#include "orb/os/fd.h"

namespace corelane::os {

enum class LockKind : std::uint8_t { shared, exclusive };

struct LockRange {
  off_t start = 0;
  off_t length = 0;  // 0: to the end of the file, however far it grows
};

// Waits for the range. PERSIST_STORE when the file system has no locks.
Expected<void> lock(const Fd& file, LockRange range = {}, LockKind kind = LockKind::exclusive) noexcept;
// false when another description holds it.
Expected<bool> try_lock(const Fd& file, LockRange range = {}, LockKind kind = LockKind::exclusive) noexcept;
Expected<void> unlock(const Fd& file, LockRange range = {}) noexcept;
// Whether another open file description holds a lock that an exclusive one on the range would conflict with.
Expected<bool> is_locked_elsewhere(const Fd& file, LockRange range = {}) noexcept;

// Holds a range while it lives.
class FileLockGuard {
 public:
  // `file` outlives the guard.
  static Expected<FileLockGuard> take(const Fd& file, LockRange range = {},
                                      LockKind kind = LockKind::exclusive) noexcept;
  FileLockGuard(FileLockGuard&& other) noexcept : file_(std::exchange(other.file_, nullptr)), range_(other.range_) {}
  FileLockGuard& operator=(FileLockGuard&&) = delete;
  ~FileLockGuard();

 private:
  FileLockGuard(const Fd& file, LockRange range) noexcept : file_(&file), range_(range) {}

  const Fd* file_;
  LockRange range_;
};

}  // namespace corelane::os
