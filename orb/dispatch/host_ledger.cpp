#include "orb/dispatch/host_ledger.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <utility>

#include "orb/base/minor.h"
#include "orb/os/file_lock.h"
#include "orb/os/log.h"

namespace corelane::dispatch {
namespace {

constexpr Error try_again{.kind = ErrorKind::transient, .minor = minor::no_core_leased};
constexpr Error no_lease{.kind = ErrorKind::no_resources, .minor = minor::no_core_leased};
constexpr Error refused{.kind = ErrorKind::persist_store, .minor = minor::system_refused};
constexpr Error not_allowed{.kind = ErrorKind::no_permission, .minor = minor::system_refused};
constexpr Error no_slot{.kind = ErrorKind::imp_limit, .minor = minor::too_many_items};

constexpr os::LockRange transaction_lock{.start = 0, .length = 1};

os::LockRange life_lock(std::size_t slot) {
  return {.start = static_cast<off_t>(ledger::slot_offset(slot)), .length = 1};
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// The directory exists, is no link, and belongs to us or to root. Who else may write into it, or into its parent, is
// what their modes say: servers that are to share must be able to.
Expected<void> prepare(const std::string& directory) {
  std::error_code failure;
  std::filesystem::create_directories(directory, failure);
  struct stat found {};
  if (lstat(directory.c_str(), &found) != 0 || !S_ISDIR(found.st_mode) ||
      (found.st_uid != geteuid() && found.st_uid != 0)) {
    os::log::error("host ledger: " + directory + " cannot be made or is not ours; set CORELANE_RUNTIME_DIRECTORY");
    return not_allowed;
  }
  return {};
}

// All of `bytes` or an error. Bound: EINTR, and regular files give the whole at once.
bool read_at(const os::Fd& file, MutableBytes bytes, std::size_t offset) noexcept {
  ssize_t got = -1;
  do got = pread(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
  while (got < 0 && errno == EINTR);
  return got == static_cast<ssize_t>(bytes.size());
}

bool write_at(const os::Fd& file, Bytes bytes, std::size_t offset) noexcept {
  ssize_t put = -1;
  do put = pwrite(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
  while (put < 0 && errno == EINTR);
  return put == static_cast<ssize_t>(bytes.size());
}

bool is_wanted(const std::vector<CoreId>& wanted, CoreId core) {
  return wanted.empty() || std::find(wanted.begin(), wanted.end(), core) != wanted.end();
}

// One rule for all providers: the cores asked for, and of each physical core only the first unless siblings are wanted.
Expected<std::vector<CoreLease>> choose(const std::vector<os::CoreInfo>& cores, const LeaseRequest& request,
                                        bool guarded) {
  for (const CoreId core : request.cores)
    if (std::none_of(cores.begin(), cores.end(), [&](const os::CoreInfo& info) { return info.core == core; }))
      return Error{.kind = ErrorKind::bad_param, .minor = minor::core_unusable};
  std::vector<CoreLease> leases;
  for (const os::CoreInfo& info : cores) {
    const bool sibling = std::any_of(leases.begin(), leases.end(),
                                     [&](const CoreLease& lease) { return lease.physical_core == info.physical_core; });
    if (is_wanted(request.cores, info.core) && (request.siblings || !sibling))
      leases.push_back({.core = info.core, .physical_core = info.physical_core, .guarded = guarded});
  }
  if (leases.empty()) return no_lease;
  return leases;
}

}  // namespace

std::string runtime_directory() {
  if (auto directory = variable("CORELANE_RUNTIME_DIRECTORY"); !directory.empty()) return directory;
  if (geteuid() == 0) return "/run/corelane";
  if (auto directory = variable("XDG_RUNTIME_DIR"); !directory.empty()) return directory + "/corelane";
  return "/tmp/corelane-" + std::to_string(geteuid());
}

HostLedger::HostLedger(const os::Topology& topology, std::string path)
    : cores_(topology.cores()), path_(std::move(path)), buffer_(ledger::slot_size) {
  others_.reserve(ledger::slot_count * 16);
  mine_.reserve(ledger::max_entries);
}

HostLedger::~HostLedger() = default;  // closing the file drops the slot

Expected<std::unique_ptr<HostLedger>> HostLedger::open(const os::Topology& topology, const std::string& directory) {
  if (auto ready = prepare(directory); !ready) return ready.error();
  std::unique_ptr<HostLedger> ledger(new HostLedger(topology, directory + "/ledger"));
  if (auto attached = ledger->attach(); !attached) return attached.error();
  return ledger;
}

// A file without our slot in it is not kept: a transaction on it would promise what nobody sees.
Expected<void> HostLedger::attach() {
  const auto attached = open_slot();
  if (!attached) file_.reset();
  return attached;
}

// Opens the file at path_, mends its header, and writes mine_ into a slot of it.
Expected<void> HostLedger::open_slot() {
  for (int attempt = 0; attempt < 16; ++attempt) {
    file_.reset(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0660));
    if (!file_) return not_allowed;
    auto guard = os::FileLockGuard::take(file_, transaction_lock);
    if (!guard) return guard.error();
    if (!is_the_file_at_path()) continue;  // somebody removed it while we waited
    if (auto mended = mend_header(); !mended) return mended.error();
    if (auto taken = take_slot(); !taken) return taken.error();
    return write_own(mine_);
  }
  return refused;
}

// Needs the transaction's lock and no slot.
Expected<void> HostLedger::mend_header() {
  if (header_is_sound()) return {};
  if (const auto found = read_header(); ledger::is_other_version(found)) {
    const std::string text = "host ledger: " + path_ + " has format version " + std::to_string(found.version) +
                             " and this server writes " + std::to_string(ledger::version);
    const auto used = os::is_locked_elsewhere(file_, {.start = 1, .length = 0});  // any slot, wherever it begins there
    if (!used || *used) {
      os::log::error(text + "; servers of that version run: stop them, or set CORELANE_RUNTIME_DIRECTORY");
      return refused;
    }
    os::log::warn(text + "; nobody uses it any more: replaced");
    if (ftruncate(file_.get(), 0) != 0) return refused;
  }
  struct stat found {};
  if (fstat(file_.get(), &found) == 0 && found.st_size != 0)
    os::log::error("host ledger: " + path_ + " was damaged; rebuilt, running servers enter their promises again");
  const ledger::FileHeader header = ledger::make_header();
  if (!write_at(file_, std::as_bytes(std::span{&header, 1}), 0)) return refused;
  return {};
}

Expected<void> HostLedger::take_slot() {
  for (slot_ = 0; slot_ < ledger::slot_count; ++slot_) {
    auto taken = os::try_lock(file_, life_lock(slot_));
    if (!taken) return taken.error();
    if (*taken) return {};
  }
  os::log::error("host ledger: " + path_ + " has no free slot; 64 servers run on this host");
  return no_slot;
}

// All zero, and so not sound, when there is none.
ledger::FileHeader HostLedger::read_header() const noexcept {
  ledger::FileHeader header;
  if (!read_at(file_, std::as_writable_bytes(std::span{&header, 1}), 0)) header = {.magic = 0};
  return header;
}

bool HostLedger::header_is_sound() const noexcept { return ledger::is_sound(read_header()); }

bool HostLedger::is_the_file_at_path() const noexcept {
  struct stat here {};
  struct stat there {};
  return fstat(file_.get(), &here) == 0 && stat(path_.c_str(), &there) == 0 && here.st_dev == there.st_dev &&
         here.st_ino == there.st_ino;
}

Expected<std::vector<CoreLease>> HostLedger::lease(const LeaseRequest& request) {
  return choose(cores_, request, true);
}

Expected<std::span<const Promise>> HostLedger::begin() noexcept {
  if (!mutex_.try_lock()) return try_again;
  if (!file_) {  // no slot: maintain() tries to take one
    mutex_.unlock();
    return try_again;
  }
  const auto locked = os::try_lock(file_, transaction_lock);
  if (!locked || !*locked) {
    mutex_.unlock();
    return try_again;
  }
  if (!is_the_file_at_path() || !header_is_sound() || !read_others()) {
    abandon();
    return try_again;
  }
  return std::span<const Promise>{others_};
}

// Bound: slot_count slots.
Expected<void> HostLedger::read_others() noexcept {
  others_.clear();
  for (std::size_t slot = 0; slot < ledger::slot_count; ++slot) {
    if (slot == slot_) continue;
    const auto sound = read_slot(slot);
    if (sound && *sound) continue;
    // What cannot be read counts only if somebody stands behind it: then wait until he has written it anew.
    const auto alive = os::is_locked_elsewhere(file_, life_lock(slot));
    if (!alive || *alive) return try_again;
  }
  return {};
}

// Adds the promises of a living owner to others_; false when the bytes are no sound slot.
Expected<bool> HostLedger::read_slot(std::size_t slot) noexcept {
  const std::size_t offset = ledger::slot_offset(slot);
  const MutableBytes head = MutableBytes{buffer_}.first(ledger::entries_offset);
  if (!read_at(file_, head, offset)) return false;
  const auto entries = ledger::entries_of(head);
  if (!entries) return false;
  const MutableBytes whole = MutableBytes{buffer_}.first(ledger::slot_bytes(*entries));
  if (!read_at(file_, whole, offset) || !ledger::is_sound(Bytes{whole})) return false;
  if (*entries == 0) return true;
  const auto alive = os::is_locked_elsewhere(file_, life_lock(slot));
  if (!alive) return alive.error();
  for (std::size_t i = 0; *alive && i < *entries; ++i) {
    others_.push_back(ledger::promise_at(whole, i));
    others_.back().owner = static_cast<std::uint32_t>(slot);
  }
  return true;
}

Expected<void> HostLedger::end(std::span<const Promise> mine) noexcept {
  const Expected<void> written = mine.size() <= ledger::max_entries ? write_own(mine) : Expected<void>(no_slot);
  if (written) mine_.assign(mine.begin(), mine.end());  // within what was reserved
  abandon();
  return written;
}

Expected<void> HostLedger::write_own(std::span<const Promise> mine) noexcept {
  const auto size = ledger::write_slot(mine, getpid(), buffer_);
  if (!size) return no_slot;
  if (!write_at(file_, Bytes{buffer_}.first(*size), ledger::slot_offset(slot_))) return refused;
  return {};
}

void HostLedger::abandon() noexcept {
  (void)os::unlock(file_, transaction_lock);
  mutex_.unlock();
}

bool HostLedger::own_slot_is_intact() noexcept {
  const auto size = ledger::write_slot(mine_, getpid(), buffer_);
  std::vector<std::byte> found(size.value_or(0));
  return read_at(file_, found, ledger::slot_offset(slot_)) && std::equal(found.begin(), found.end(), buffer_.begin());
}

void HostLedger::maintain() noexcept {
  const std::unique_lock mine(mutex_, std::try_to_lock);
  if (mine) repair();
}

void HostLedger::repair() {
  if (!is_the_file_at_path()) {
    if (!lost_)
      os::log::error("host ledger: " + path_ + " was removed or replaced while in use; entering our promises again");
    const bool back = attach().has_value();
    if (!back && !lost_)
      os::log::error("host ledger: no slot in " + path_ + "; no task is admitted until there is one");
    lost_ = !back;
    return;
  }
  const auto locked = os::try_lock(file_, transaction_lock);
  if (!locked || !*locked) return;  // the next time
  if (!header_is_sound()) {
    os::log::error("host ledger: " + path_ + " was damaged; rebuilt, every server enters its promises again");
    const ledger::FileHeader header = ledger::make_header();
    (void)write_at(file_, std::as_bytes(std::span{&header, 1}), 0);
  }
  if (!own_slot_is_intact()) {
    os::log::warn("host ledger: our entries in " + path_ + " were damaged; written again");
    (void)write_own(mine_);
  }
  (void)os::unlock(file_, transaction_lock);
}

Expected<std::vector<CoreLease>> UnguardedCores::lease(const LeaseRequest& request) {
  os::log::warn("dispatch: unguarded: other servers of this host may promise the same cores; deadlines may be missed");
  return choose(cores_, request, false);
}

}  // namespace corelane::dispatch
