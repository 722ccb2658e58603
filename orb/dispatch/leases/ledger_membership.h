// LedgerMembership records, in a file beside the host ledger, which servers share the ledger. So if the ledger is
// removed or replaced while servers run, other servers notice that these are missing there. Each server has one entry
// in that file, with the number of its slot in the ledger. It takes the entry when its slot first counts, and has it
// until the server ends, even while the server is in no ledger. If an entry is taken, but nobody holds the slot with
// its number, the promises of the entry's owner are not known.
//
// The file is <ledger>.members. Entry i is the process id (i32) at byte 4 i. An entry is taken while its first byte is
// locked (a lock of an open file description, which ends with its owner). If that file is removed together with the
// ledger, nothing shows that servers are missing.
//
// Threads: one at a time. The functions that are noexcept never wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "orb/base/expected.h"
#include "orb/dispatch/leases/ledger_fault.h"
#include "orb/os/fd.h"

namespace corelane::dispatch {

class LedgerMembership {
 public:
  explicit LedgerMembership(const std::string& ledger) : path_(ledger + ".members") {}

  // Opens or creates the file, if that was not done or the file is no longer at its path. In that case this process
  // loses its entry. Errors: as ledger::open_file().
  Expected<void, LedgerFault> open();
  bool is_at_path() const noexcept;
  const std::string& path() const noexcept { return path_; }

  // Takes the entry, and gives up any other entry of this process. False: another server has it. Error PERSIST_STORE:
  // the file cannot be locked.
  Expected<bool> take(std::size_t entry) noexcept;
  std::optional<std::size_t> own() const noexcept { return own_; }

  // Returns an upper bound on entries: none at or after it belongs to another server, even if the file does not reach
  // so far.
  std::size_t count() const noexcept;
  // Returns whether another server has the entry.
  Expected<bool> is_taken(std::size_t entry) const noexcept;
  // Returns the pid of the entry's owner, in the owner's pid namespace; 0: not known.
  std::int32_t pid(std::size_t entry) const noexcept;

 private:
  const std::string path_;
  os::Fd file_;
  std::optional<std::size_t> own_;
};

}  // namespace corelane::dispatch
