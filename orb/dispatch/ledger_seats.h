// LedgerSeats: who shares a host ledger, written down beside it, so that servers are missed in a ledger that was
// removed or replaced while they ran. A server has the seat of its slot's number from when it first counted in the
// ledger until it ends, also while it is in none; a seat that is taken, without a living slot, is one whose promises
// are not known.
//
// The file <ledger>.seats: seat i is the process id (i32) at byte 4 i, and the lock of that byte (open file
// description), which goes with its owner. Where that file is removed together with the ledger nobody is missed.
//
// Threads: one at a time. What is noexcept waits for nobody.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "orb/base/expected.h"
#include "orb/dispatch/ledger_fault.h"
#include "orb/os/fd.h"

namespace corelane::dispatch {

class LedgerSeats {
 public:
  explicit LedgerSeats(const std::string& ledger) : path_(ledger + ".seats") {}

  // Opens the file, or makes it, where that was not done or it is no longer at its path; a seat is lost with it then.
  // Errors as ledger::open_file().
  Expected<void, LedgerFault> open();
  bool is_at_path() const noexcept;
  const std::string& path() const noexcept { return path_; }

  // Takes the seat, and gives up any other that was ours. False: another server has it. PERSIST_STORE: no lock is to be
  // had.
  Expected<bool> take(std::size_t seat) noexcept;
  std::optional<std::size_t> own() const noexcept { return own_; }

  // How many there may be: none at or behind it is another server's, also where the file does not reach so far.
  std::size_t count() const noexcept;
  // Whether another server has it.
  Expected<bool> is_taken(std::size_t seat) const noexcept;
  // Of its owner, as its own namespace numbers it; 0: not known.
  std::int32_t pid(std::size_t seat) const noexcept;

 private:
  const std::string path_;
  os::Fd file_;
  std::optional<std::size_t> own_;
};

}  // namespace corelane::dispatch
