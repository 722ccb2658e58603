#include "orb/dispatch/leases/host_ledger.h"

#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

#include "orb/base/errors.h"
#include "orb/base/minor.h"
#include "orb/dispatch/leases/cross_process_analysis.h"
#include "orb/os/clock.h"
#include "orb/os/files/directory.h"
#include "orb/os/lock.h"
#include "orb/os/log.h"
#include "orb/os/peers/own_user.h"
#include "orb/os/process/environment.h"

namespace corelane::dispatch {
namespace {

constexpr Error ledger_busy{.kind = ErrorKind::transient, .minor = minor::ledger_busy};
using ledger::unusable;
constexpr Error no_lease{.kind = ErrorKind::no_resources, .minor = minor::no_core_leased};
using ledger::not_allowed;
using ledger::too_many;

constexpr Duration remarkable = std::chrono::seconds{1};  // how long a problem lasts before it is logged

bool is_wanted(const std::vector<CoreId>& wanted, CoreId core) {
  return wanted.empty() || std::find(wanted.begin(), wanted.end(), core) != wanted.end();
}

// Chooses the cores to lease, by one rule for all providers: the requested cores. Of each physical core only the first
// hardware thread is chosen, unless siblings are requested.
Expected<std::vector<CoreLease>> choose(const std::vector<os::CoreInfo>& cores, const LeaseRequest& request,
                                        bool guarded) {
  if (const std::string fault = os::fault_of(request.cores, cores); !fault.empty()) {
    os::log::error("pool.cores: " + fault);
    return Error{.kind = ErrorKind::bad_param, .minor = minor::core_unusable};
  }
  std::vector<CoreLease> leases;
  for (const os::CoreInfo& info : cores) {
    const bool sibling = std::any_of(leases.begin(), leases.end(),
                                     [&](const CoreLease& lease) { return lease.physical_core == info.physical_core; });
    if (is_wanted(request.cores, info.core) && (request.siblings || !sibling))
      leases.push_back(
          {.core = info.core, .physical_core = info.physical_core, .guarded = guarded, .cache = info.cache});
  }
  if (leases.empty()) return no_lease;
  return leases;
}

// Returns whether `tasks` meet their deadlines alone, but not beside `others`. By the test for priorities on one
// processor, some tasks are late even alone. Those were admitted by another test: on a core scheduled by deadlines, or
// with siblings.
bool late_beside(const CoreLease& lease, std::span<const Promise> tasks, std::span<const Promise> others) {
  return others_hold(lease, tasks, {}) && !others_hold(lease, tasks, others);
}

// Opens the ledger in the directory. Creates the directory if there is none, and refuses one that belongs to another
// user.
Expected<LedgerFile, LedgerFault> open_in(const std::string& directory, std::span<const Promise> mine,
                                          LedgerMembership& membership) {
  if (const auto ready = os::make_directory(directory); !ready) {
    const std::string remedy = "; set runtime.directory (CORELANE_RUNTIME_DIRECTORY)";
    return LedgerFault{.error = not_allowed, .text = ready.error() + remedy};
  }
  return LedgerFile::open(ledger::path_in(directory), mine, membership);
}

// Any user may create a directory in /tmp.
std::string directory_in_tmp() { return "/tmp/corelane-" + std::to_string(geteuid()); }

// Returns whether the path can never be this user's directory.
bool is_anothers(const std::string& path) {
  struct stat found {};
  if (lstat(path.c_str(), &found) != 0) return false;
  return !S_ISDIR(found.st_mode) || (found.st_uid != geteuid() && found.st_uid != 0);
}

// Returns "" without a home directory. Has the host's name in it, because several hosts may share a home directory.
std::string directory_in_home() {
  const std::string home = os::variable("HOME");
  utsname host{};
  return home.empty() || uname(&host) != 0 ? std::string() : home + "/.corelane-" + host.nodename;
}

// Returns whether the runtime directory is one of the two above.
bool is_in_tmp_or_home() {
  return os::variable("CORELANE_RUNTIME_DIRECTORY").empty() && !os::runs_as_root() &&
         os::variable("XDG_RUNTIME_DIR").empty();
}

}  // namespace

std::string runtime_directory() {
  if (auto directory = os::variable("CORELANE_RUNTIME_DIRECTORY"); !directory.empty()) return directory;
  if (os::runs_as_root()) return "/run/corelane";
  // The XDG Base Directory Specification says that a relative path is to be ignored.
  if (auto directory = os::variable("XDG_RUNTIME_DIR"); directory.starts_with('/')) return directory + "/corelane";
  const std::string in_home = is_anothers(directory_in_tmp()) ? directory_in_home() : "";
  return in_home.empty() ? directory_in_tmp() : in_home;
}

std::string runtime_directory_remark() {
  if (!is_in_tmp_or_home() || !is_anothers(directory_in_tmp()) || directory_in_home().empty()) return {};
  return "another user has taken " + directory_in_tmp() + ", so this user's programs meet in " + directory_in_home() +
         "; as root, remove " + directory_in_tmp() + ", or set runtime.directory";
}

HostLedger::HostLedger(const os::Topology& topology, std::string directory, LedgerFile file,
                       std::unique_ptr<LedgerMembership> membership)
    : cores_(topology.cores()),
      directory_(std::move(directory)),
      path_(ledger::path_in(directory_)),
      revoked_(directory_),
      file_(std::move(file)),
      membership_(std::move(membership)) {
  others_.reserve(ledger::slot_count * 16);
  sight_.promises.reserve(ledger::slot_count * 16);
  mine_.reserve(ledger::max_entries);
}

HostLedger::~HostLedger() = default;  // closing the file drops the slot

Expected<std::unique_ptr<HostLedger>> HostLedger::open(const os::Topology& topology, const std::string& directory) {
  auto membership = std::make_unique<LedgerMembership>(ledger::path_in(directory));
  auto file = open_in(directory, {}, *membership);
  if (!file) {
    os::log::error("host ledger: " + file.error().text);
    return file.error().error;
  }
  if (!file->remark().empty()) os::log::warn("host ledger: " + file->remark());
  if (const std::string remark = runtime_directory_remark(); !remark.empty() && directory == runtime_directory())
    os::log::warn("runtime directory: " + remark);
  return std::unique_ptr<HostLedger>(new HostLedger(topology, directory, std::move(*file), std::move(membership)));
}

Expected<std::vector<CoreLease>> HostLedger::lease(const LeaseRequest& request) {
  revoked_.look();
  by_deadlines_ = request.by_deadlines;
  std::vector<os::CoreInfo> cores = cores_;
  std::erase_if(cores, [&](const os::CoreInfo& info) { return revoked_.has(info.core); });
  if (cores.empty() && !cores_.empty())
    os::log::error("no core is left: " + revoked_.path() +
                   " takes back all that this process may use; remove some there");
  return choose(cores, request, true);
}

// The functions of a transaction are not analyzed: begin() locks mutex_, and end() or abandon() unlocks it. The callers
// know only CoreProvider, which has no mutex.
Expected<std::span<const Promise>> HostLedger::begin() noexcept CORELANE_NO_THREAD_SAFETY_ANALYSIS {
  if (!mutex_.try_lock()) return ledger_busy;
  if (const auto opened = open_transaction(); !opened) {
    note_fault(opened.error());
    abandon();
    return opened.error();
  }
  return std::span<const Promise>{others_};
}

Expected<void> HostLedger::open_transaction() noexcept {
  if (!file_) return unusable;  // no slot: maintain() tries to take one
  inside_ = false;
  if (file_->is_still_alone()) return others_.clear(), Expected<void>{};
  if (const auto entered = enter(); !entered) return entered;
  return file_->look_around(others_);
}

// Takes the transaction's lock. Continues without it if another process has kept it for too long.
Expected<void> HostLedger::enter() noexcept {
  const auto entered = file_->try_enter();
  if (!entered) return entered.error();
  const Time now = os::now();
  inside_ = *entered;
  troubles_.blocked.note(!*entered, now);
  if (*entered || troubles_.blocked.lasted(now) >= longest_wait) return {};
  return ledger_busy;
}

Expected<void> HostLedger::end(std::span<const Promise> mine) noexcept CORELANE_NO_THREAD_SAFETY_ANALYSIS {
  const Expected<void> written = put(mine);
  if (written) abandon();
  return written;
}

// Takes the transaction's lock even if begin() did not need it. A server that starts meanwhile would find no capacity;
// with the lock it waits a little and then finds some.
Expected<void> HostLedger::claim(std::span<const Promise> mine) noexcept CORELANE_NO_THREAD_SAFETY_ANALYSIS {
  if (!inside_) {
    if (const auto entered = enter(); !entered) {
      note_fault(entered.error());
      abandon();
      return entered;
    }
  }
  return put(mine);
}

Expected<void> HostLedger::put(std::span<const Promise> mine) noexcept {
  const bool have_room = mine.size() <= ledger::max_entries;
  if (!have_room) troubles_.note_too_many(mine.size());
  const Expected<void> written = have_room ? write(mine) : Expected<void>(too_many);
  if (!written) abandon();
  if (written) mine_.assign(mine.begin(), mine.end());  // within what was reserved
  return written;
}

// Writes first and checks then: see the head of host_ledger.h.
Expected<void> HostLedger::write(std::span<const Promise> mine) noexcept {
  Expected<void> written = file_->write_own(mine);
  troubles_.note_system_fault(file_->write_fault());
  if (written && !is_as_begun()) written = ledger_busy;
  if (!written) (void)file_->write_own(mine_);  // maintain() repeats this if it fails
  return written;
}

// Notes that a system call ended the transaction; maintain() logs why. Call it before anything else changes errno.
void HostLedger::note_fault(const Error& error) noexcept {
  if (error == errors::not_stored) troubles_.note_system_fault(errno);
}

bool HostLedger::is_as_begun() noexcept {
  return file_->is_still_alone() || (file_->others_are_as_read() && file_->is_at_path());
}

bool HostLedger::alone() const noexcept CORELANE_NO_THREAD_SAFETY_ANALYSIS { return file_ && file_->alone(); }

void HostLedger::abandon() noexcept CORELANE_NO_THREAD_SAFETY_ANALYSIS {
  if (file_ && inside_) file_->leave();
  mutex_.unlock();
}

// No analysis: it reads file_ without mutex_. looking_ suffices, because file_ is replaced only with both held.
bool HostLedger::alone_on(int physical_core) noexcept CORELANE_NO_THREAD_SAFETY_ANALYSIS {
  if (!looking_.try_lock()) return false;
  const os::LockGuard lock(looking_, std::adopt_lock);
  if (!file_) return false;
  const auto promised = file_->is_promised(physical_core, sight_);
  return promised && !*promised;
}

void HostLedger::withdraw() noexcept {
  const os::LockGuard lock(mutex_);
  mine_.clear();
  if (file_) (void)file_->write_own(mine_);  // without a slot no process sees our promises anyway
}

void HostLedger::maintain() noexcept try {
  settled_ = false;
  revoked_.look();
  LedgerFindings findings;
  {
    const os::LockGuard looking(looking_);  // first: a thread in alone_on() may hold it long
    if (!mutex_.try_lock()) return;
    const os::LockGuard lock(mutex_, std::adopt_lock);
    repair(findings);
    settled_ = is_in_order();
  }
  findings.log(path_, directory_);
} catch (const std::bad_alloc&) {  // tried again at the next call
}

void HostLedger::repair(LedgerFindings& findings) {
  findings.system_fault = troubles_.new_system_fault();
  findings.too_many = troubles_.new_too_many();
  if (!file_ || !file_->is_at_path()) return attach(findings);
  look_for_entry(findings);
  findings.header = !file_->header_is_sound();
  if (findings.header) file_->mend_header();
  findings.entries = !file_->own_is(mine_);
  if (findings.entries) (void)file_->write_own(mine_);
  look_for_stuck(findings);
  look_for_absentee(findings);
  look_for_room(findings);
}

// Returns whether nothing waits to be repaired or told later.
bool HostLedger::is_in_order() const noexcept { return file_ && !looks_for_room_ && troubles_.are_over(); }

// Enters this process into the file that is at the path now. A file without our slot is not kept: a transaction on it
// would make promises that no other process sees.
void HostLedger::attach(LedgerFindings& findings) {
  findings.replaced = !lost_;
  file_.reset();
  auto file = open_in(directory_, mine_, *membership_);  // the directory may have gone with the file
  if (file) {
    findings.remark = file->remark();
    file_ = std::move(*file);
    looks_for_room_ = true;
    look_for_room(findings);
  } else if (!lost_) {
    findings.fault = file.error();
  }
  lost_ = !file_;
}

// Logged once until we have an entry again.
void HostLedger::look_for_entry(LedgerFindings& findings) {
  std::string fault = file_->sit_again();
  const Time now = os::now();
  troubles_.no_entry.note(!fault.empty(), now);
  if (troubles_.no_entry.is_to_be_told(now, Duration::zero())) findings.entry = std::move(fault);
}

// Logged once until the lock is free again.
void HostLedger::look_for_stuck(LedgerFindings& findings) {
  LastingTrouble& blocked = troubles_.blocked;
  const auto holder = blocked.stands() ? file_->inside() : std::nullopt;
  const Time now = os::now();
  if (!holder) blocked.note(false, now);
  if (!blocked.is_to_be_told(now, remarkable)) return;
  findings.stuck = holder;
  findings.stuck_for = blocked.lasted(now);
}

// Logged once until every living server is in the ledger.
void HostLedger::look_for_absentee(LedgerFindings& findings) noexcept {
  const auto absent = file_->absentee();
  const Time now = os::now();
  troubles_.absentee.note(absent && *absent, now);
  if (troubles_.absentee.is_to_be_told(now, remarkable)) findings.absentee = membership_->pid(**absent);
}

// Checks whether a core was promised twice, because a server that started while we were not in the ledger did not know
// our promises. Logged once, and once more when that is over.
void HostLedger::look_for_room(LedgerFindings& findings) {
  if (!looks_for_room_ || !file_->read_others(others_)) return;
  const auto full = promised_twice();
  looks_for_room_ = full.has_value();
  if (troubles_.note_twice(full.has_value())) (full ? findings.twice : findings.once) = true;
  if (full) findings.core = *full;
}

// Returns a core on which our deadlines and the others' do not hold together, although each hold alone.
std::optional<CoreId> HostLedger::promised_twice() const {
  for (const os::CoreInfo& info : cores_) {
    const CoreLease lease{.core = info.core, .physical_core = info.physical_core};
    const bool ours_late = !has_deadline_core(info.physical_core) && late_beside(lease, mine_, others_);
    if (ours_late || late_beside(lease, others_, mine_)) return info.core;
  }
  return std::nullopt;
}

bool HostLedger::has_deadline_core(int physical_core) const {
  return std::any_of(cores_.begin(), cores_.end(), [&](const os::CoreInfo& info) {
    const bool is_one = std::find(by_deadlines_.begin(), by_deadlines_.end(), info.core) != by_deadlines_.end();
    return is_one && info.physical_core == physical_core;
  });
}

Expected<std::vector<CoreLease>> UnguardedCores::lease(const LeaseRequest& request) {
  if (promises_)
    os::log::warn(
        "dispatch: runtime.ledger is off, so other servers of this host may promise the same cores, and deadlines may "
        "be missed");
  return choose(cores_, request, false);
}

}  // namespace corelane::dispatch
