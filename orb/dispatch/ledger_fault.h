// What goes wrong with the host ledger's files, for a program and for whoever has to mend it; and how they are opened.
// Threads: any; not real-time ones (allocates).
#pragma once

#include <cstdint>
#include <string>

#include "orb/base/error.h"
#include "orb/base/expected.h"
#include "orb/base/minor.h"
#include "orb/os/fd.h"

namespace corelane::dispatch {

struct LedgerFault {
  Error error;
  std::string text;  // what, where, and how to mend it
};

namespace ledger {

inline constexpr Error unusable{.kind = ErrorKind::transient, .minor = minor::ledger_unusable};
inline constexpr Error not_allowed{.kind = ErrorKind::no_permission, .minor = minor::system_refused};
inline constexpr Error full{.kind = ErrorKind::imp_limit, .minor = minor::ledger_full};         // of servers
inline constexpr Error too_many{.kind = ErrorKind::imp_limit, .minor = minor::too_many_items};  // promises

inline constexpr const char* elsewhere = "set runtime.directory (CORELANE_RUNTIME_DIRECTORY)";  // a remedy

// Opens or makes a plain file. Never waits for the other end of a fifo, nor becomes a terminal's process.
// NO_PERMISSION: it cannot be opened, or is something else.
Expected<os::Fd, LedgerFault> open_file(const std::string& path);
// How a text names a server; 0: not known which.
std::string server_text(std::int32_t pid);
// PERSIST_STORE, after errno.
LedgerFault cannot_write(const std::string& path, int reason);

}  // namespace ledger
}  // namespace corelane::dispatch
