// Locks ranges of a file for an open file description (F_OFD_SETLK). The kernel drops the locks when the last
// descriptor closes, also after kill -9. Two descriptions in one process exclude each other as two processes do. No
// function here waits for a holder, because a holder may be stopped. Threads: any.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "orb/base/expected.h"
#include "orb/os/fd.h"

namespace corelane::os {

enum class LockKind : std::uint8_t { shared, exclusive };

struct LockRange {
  off_t start = 0;
  off_t length = 0;  // 0: to the end of the file, however far it grows
};

// Returns false if another description holds it. PERSIST_STORE if the file system has no locks.
Expected<bool> try_lock(const Fd& file, LockRange range = {}, LockKind kind = LockKind::exclusive) noexcept;
Expected<void> unlock(const Fd& file, LockRange range = {}) noexcept;
// Returns a lock of another open file description that conflicts with an exclusive lock on the range. The result is its
// whole range.
Expected<std::optional<LockRange>> conflicting_lock(const Fd& file, LockRange range = {}) noexcept;
// Returns whether there is such a lock.
Expected<bool> is_locked_elsewhere(const Fd& file, LockRange range = {}) noexcept;

// Why a file could not be claimed.
struct ClaimFault {
  enum class Kind : std::uint8_t { held, foreign, failed };
  Kind kind = Kind::failed;  // locked by another; not an empty plain file; see number
  int number = 0;            // errno
};

// Opens the file at the path, or makes it, and locks all of it. The holder may remove the file, and must do so before
// it closes it. Accepts only an empty file, which an earlier holder may have left; touches no other file. Never waits.
Expected<Fd, ClaimFault> claim_file(const char* path) noexcept;
// Returns whether the path leads to this open file.
bool is_at(const Fd& file, const char* path) noexcept;

}  // namespace corelane::os
