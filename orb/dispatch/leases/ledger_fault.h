// LedgerFault describes a failure of the host ledger's files, for the program and for the operator who repairs it. The
// functions here open these files and describe failures.
// Threads: any that is not real-time (allocates).
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
  std::string text;  // what failed, where, and how to fix it
};

namespace ledger {

inline constexpr Error unusable{.kind = ErrorKind::transient, .minor = minor::ledger_unusable};
inline constexpr Error not_allowed{.kind = ErrorKind::no_permission, .minor = minor::system_refused};
inline constexpr Error full{.kind = ErrorKind::imp_limit, .minor = minor::ledger_full};  // of servers
inline constexpr Error too_many{.kind = ErrorKind::imp_limit, .minor = minor::too_many_promises};

inline constexpr const char* elsewhere = "set runtime.directory (CORELANE_RUNTIME_DIRECTORY)";  // a remedy

// Opens or creates a regular file. Never waits for the other end of a FIFO, and never makes a terminal the controlling
// one. Error NO_PERMISSION: the file cannot be opened, or is not a regular file.
Expected<os::Fd, LedgerFault> open_file(const std::string& path);
// Returns how a text names a server; pid 0: it is not known which.
std::string server_text(std::int32_t pid);
// Returns the fault PERSIST_STORE of a failed write. `reason`: its errno.
LedgerFault cannot_write(const std::string& path, int reason);

}  // namespace ledger
}  // namespace corelane::dispatch
