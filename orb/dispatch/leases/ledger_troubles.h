// LedgerTroubles remembers what is wrong with the host ledger for a while, and what of it has been logged.
// LedgerFindings is what one call of HostLedger::maintain() found and did, as far as it is to be logged.
//
// Threads: one at a time. HostLedger's lock guards the troubles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/dispatch/leases/ledger_fault.h"

namespace corelane::dispatch {

// LastingTrouble is logged once, until a later check finds it over.
class LastingTrouble {
 public:
  // Notes whether the trouble is there now.
  void note(bool is_there, Time now) noexcept;
  // Returns whether to log it now: it has lasted for `lasts`, and the log does not have it yet.
  bool is_to_be_told(Time now, Duration lasts) noexcept;

  bool stands() const noexcept { return since_ != never; }
  // Returns for how long it has been there; 0 if it is over.
  Duration lasted(Time now) const noexcept { return stands() ? now - since_ : Duration::zero(); }

 private:
  Time since_ = never;
  bool is_told_ = false;
};

class LedgerTroubles {
 public:
  LastingTrouble blocked;   // every attempt to take the transaction's lock finds it taken
  LastingTrouble absentee;  // every check finds a living process that is not in the ledger
  LastingTrouble no_entry;  // this process has no entry (LedgerMembership)

  // Notes errno of a lock or a write; 0: a write has succeeded.
  void note_system_fault(int reason) noexcept { system_fault_ = reason; }
  // Returns it if it is another one than at the last call, and 0 otherwise.
  int new_system_fault() noexcept;
  // Notes the number of promises, more than a slot has room for.
  void note_too_many(std::size_t promises) noexcept { too_many_ = promises; }
  // Returns that number, but only once. 0 otherwise.
  std::size_t new_too_many() noexcept;
  // Notes whether a core is promised twice. Returns whether that has changed.
  bool note_twice(bool is_twice) noexcept;

  // Returns whether maintain() need not look soon again. It does not look again for too many promises.
  bool are_over() const noexcept;

 private:
  int system_fault_ = 0;
  int told_system_fault_ = 0;
  std::size_t too_many_ = 0;
  bool told_too_many_ = false;
  bool is_twice_ = false;
};

// Logged without a lock, because a log may have to wait for its terminal.
struct LedgerFindings {
  bool replaced = false, header = false, entries = false;
  bool twice = false, once = false;      // a core is promised twice, or no longer
  CoreId core = no_core;                 // the core that is promised twice, or was
  std::optional<std::int32_t> absentee;  // a living process that is not in the ledger; 0: pid not known
  std::optional<LedgerFault> fault;
  std::string remark;
  std::string entry;                  // why this process has no entry
  std::optional<std::int32_t> stuck;  // the process that keeps the transaction's lock; 0: not known
  Duration stuck_for{};
  int system_fault = 0;      // why the file cannot be locked or written
  std::size_t too_many = 0;  // the number of promises, if that exceeds a slot's room

  // Writes them to the log. `path` is the ledger in `directory`.
  void log(const std::string& path, const std::string& directory) const;
};

}  // namespace corelane::dispatch
