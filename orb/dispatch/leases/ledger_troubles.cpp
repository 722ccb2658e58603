#include "orb/dispatch/leases/ledger_troubles.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "orb/dispatch/leases/ledger_format.h"
#include "orb/os/log.h"

namespace corelane::dispatch {

void LastingTrouble::note(bool is_there, Time now) noexcept { since_ = is_there ? std::min(since_, now) : never; }

bool LastingTrouble::is_to_be_told(Time now, Duration lasts) noexcept {
  if (!stands()) is_told_ = false;
  return stands() && lasted(now) >= lasts && !std::exchange(is_told_, true);
}

int LedgerTroubles::new_system_fault() noexcept {
  return std::exchange(told_system_fault_, system_fault_) != system_fault_ ? system_fault_ : 0;
}

std::size_t LedgerTroubles::new_too_many() noexcept {
  return too_many_ > 0 && !std::exchange(told_too_many_, true) ? too_many_ : 0;
}

bool LedgerTroubles::note_twice(bool is_twice) noexcept { return std::exchange(is_twice_, is_twice) != is_twice; }

bool LedgerTroubles::are_over() const noexcept {
  return !no_entry.stands() && !absentee.stands() && !blocked.stands() && system_fault_ == 0;
}

void LedgerFindings::log(const std::string& path, const std::string& directory) const {
  const std::string start = "host ledger: " + path;
  if (replaced)
    os::log::error(start +
                   " was removed or replaced while in use; this server writes its promises again. Servers read each "
                   "other's promises there: do not remove " +
                   directory + " while servers run");
  if (!remark.empty()) os::log::warn("host ledger: " + remark);
  if (fault) os::log::error("host ledger: no task is admitted until this is repaired: " + fault->text);
  if (!entry.empty())
    os::log::warn("host ledger: " + entry +
                  "; this server tries again. Until it has one, other servers do not notice that its promises are lost "
                  "if the ledger is removed");
  if (header) os::log::error(start + " was damaged and has been rebuilt; every server enters its promises again");
  if (entries)
    os::log::warn("host ledger: this server's entries in " + path + " were damaged and have been written again");
  if (system_fault != 0)
    os::log::error(
        start + " cannot be locked or written: " + std::strerror(system_fault) +
        "; no task is admitted until then: correct that, or set runtime.directory (CORELANE_RUNTIME_DIRECTORY)");
  if (too_many > 0)
    os::log::error("host ledger: a server enters at most " + std::to_string(ledger::max_entries) +
                   " promises (tasks, and each core's platform load), and this one was asked for " +
                   std::to_string(too_many) +
                   ": tasks beyond that are refused with IMP_LIMIT. Set limits.tasks lower, divide the tasks among "
                   "servers, or set runtime.ledger = off where no other server promises anything");
  if (absentee)
    os::log::error(start + " was removed or replaced, and " + ledger::server_text(*absentee) +
                   " has not entered its promises there again; no task is admitted until it has: if it is stopped, "
                   "kill -CONT or end it");
  if (twice)
    os::log::error(start + ": core " + std::to_string(core.value) +
                   " was promised twice, by us and by another server while the ledger was gone: deadlines may "
                   "be missed, and no task is admitted there; end some tasks, or one of the servers");
  if (once) os::log::warn(start + ": no core is promised twice any more");
  if (!stuck) return;
  os::log::warn(start + ": " + ledger::server_text(*stuck) + " has been in a transaction for " +
                std::to_string(stuck_for / std::chrono::milliseconds{1}) +
                " ms (is it stopped, or does it get no time on its core?); other servers continue without it");
}

}  // namespace corelane::dispatch
