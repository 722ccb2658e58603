// Locks on ranges of a file that belong to the open file description (F_OFD_SETLK): the kernel drops them when its last
// descriptor closes, also after kill -9, and two descriptions in one process exclude each other as two processes do.
// Nothing here waits for a holder, who may be stopped. Threads: any.
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

// false when another description holds it. PERSIST_STORE when the file system has no locks.
Expected<bool> try_lock(const Fd& file, LockRange range = {}, LockKind kind = LockKind::exclusive) noexcept;
Expected<void> unlock(const Fd& file, LockRange range = {}) noexcept;
// A lock of another open file description that an exclusive one on the range would conflict with: all that it covers.
Expected<std::optional<LockRange>> conflicting_lock(const Fd& file, LockRange range = {}) noexcept;
// Whether there is one.
Expected<bool> is_locked_elsewhere(const Fd& file, LockRange range = {}) noexcept;

// Why a file could not be claimed.
struct ClaimFault {
  enum class Kind : std::uint8_t { held, foreign, failed };
  Kind kind = Kind::failed;  // another description has its lock; it is no plain file, or says something; see number
  int number = 0;            // errno
};

// Opens the file at the path, or makes it, and locks all of it: whoever has it may remove it, and does so before it is
// closed. Only an empty file is taken for what such a user left behind; nothing else is touched. Never waits.
Expected<Fd, ClaimFault> claim_file(const char* path) noexcept;
// Whether the file at the path is that very one.
bool is_at(const Fd& file, const char* path) noexcept;

}  // namespace corelane::os
