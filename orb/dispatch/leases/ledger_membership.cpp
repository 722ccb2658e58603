#include "orb/dispatch/leases/ledger_membership.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "orb/dispatch/leases/ledger_format.h"
#include "orb/os/file_lock.h"
#include "orb/os/process/size_limit_guard.h"

namespace corelane::dispatch {
namespace {

constexpr std::size_t entry_size = sizeof(std::int32_t);

os::LockRange entry_lock(std::size_t entry) { return {.start = static_cast<off_t>(entry * entry_size), .length = 1}; }

}  // namespace

Expected<void, LedgerFault> LedgerMembership::open() {
  if (is_at_path()) return {};
  auto file = ledger::open_file(path_);
  if (!file) return file.error();
  file_ = std::move(*file);
  own_.reset();
  return {};
}

bool LedgerMembership::is_at_path() const noexcept { return file_ && os::is_at(file_, path_.c_str()); }

Expected<bool> LedgerMembership::take(std::size_t entry) noexcept {
  const auto taken = os::try_lock(file_, entry_lock(entry));
  if (!taken || !*taken) return taken;
  if (own_ && *own_ != entry) (void)os::unlock(file_, entry_lock(*own_));
  own_ = entry;
  const os::SizeLimitGuard guard;
  const std::int32_t self = getpid();  // only for the log: an entry without a pid counts, too
  (void)!pwrite(file_.get(), &self, sizeof self, entry_lock(entry).start);
  return true;
}

std::size_t LedgerMembership::count() const noexcept {
  struct stat found {};
  if (fstat(file_.get(), &found) != 0) return ledger::slot_count;
  const std::size_t within = std::min(ledger::slot_count, static_cast<std::size_t>(found.st_size) / entry_size);
  // An owner beyond the end means that the file was truncated, or that the owner had no space to write its pid.
  const auto beyond = os::is_locked_elsewhere(file_, {.start = entry_lock(within).start, .length = 0});
  return beyond && !*beyond ? within : ledger::slot_count;
}

Expected<bool> LedgerMembership::is_taken(std::size_t entry) const noexcept {
  return os::is_locked_elsewhere(file_, entry_lock(entry));
}

std::int32_t LedgerMembership::pid(std::size_t entry) const noexcept {
  std::int32_t found = 0;
  const bool whole = pread(file_.get(), &found, sizeof found, entry_lock(entry).start) == sizeof found;
  return whole ? found : 0;
}

}  // namespace corelane::dispatch
