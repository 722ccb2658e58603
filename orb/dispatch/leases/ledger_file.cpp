#include "orb/dispatch/leases/ledger_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <new>
#include <thread>
#include <utility>

#include "orb/base/errors.h"
#include "orb/base/minor.h"
#include "orb/os/file_lock.h"
#include "orb/os/files/directory.h"
#include "orb/os/files/file_room.h"
#include "orb/os/process/size_limit_guard.h"

namespace corelane::dispatch {
namespace {

using errors::no_memory;
using errors::not_stored;
using ledger::cannot_write;
using ledger::elsewhere;
using ledger::unusable;

constexpr int attempts = 16;  // while other processes remove the file, or replace one of another version

os::LockRange transaction_lock(std::size_t slot) { return {.start = 0, .length = static_cast<off_t>(slot) + 2}; }
os::LockRange claim_lock(std::size_t slot) {
  return {.start = static_cast<off_t>(ledger::first_claim + slot), .length = 1};
}
os::LockRange life_lock(std::size_t slot) {
  return {.start = static_cast<off_t>(ledger::slot_offset(slot)), .length = 1};
}

// Reads all of `bytes`, or returns false. Bound: repeats only after EINTR; a regular file gives everything at once.
bool read_at(const os::Fd& file, MutableBytes bytes, std::size_t offset) noexcept {
  ssize_t got = -1;
  do got = pread(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
  while (got < 0 && errno == EINTR);
  return got == static_cast<ssize_t>(bytes.size());
}

// Writes all of `bytes`, or returns false. After a short write it writes the rest, which sets errno if a limit was the
// cause. Bound: as above.
bool write_at(const os::Fd& file, Bytes bytes, std::size_t offset) noexcept {
  const os::SizeLimitGuard guard;
  while (!bytes.empty()) {
    const ssize_t put = pwrite(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    offset += static_cast<std::size_t>(put);
  }
  return true;
}

}  // namespace

LedgerFile::LedgerFile(std::string path, os::Fd file, LedgerMembership& membership)
    : path_(std::move(path)),
      file_(std::move(file)),
      membership_(&membership),
      self_(getpid()),
      buffer_(ledger::slot_size),
      found_(ledger::slot_size) {
  struct stat found {};
  if (fstat(file_.get(), &found) == 0) device_ = found.st_dev, inode_ = found.st_ino;
}

Expected<LedgerFile, LedgerFault> LedgerFile::open(const std::string& path, std::span<const Promise> mine,
                                                   LedgerMembership& membership) {
  for (int attempt = 0; attempt < attempts; ++attempt) {
    if (auto there = membership.open(); !there) return there.error();
    auto file = ledger::open_file(path);
    if (!file) return file.error();
    LedgerFile made(path, std::move(*file), membership);
    if (auto ready = made.prepare_header(); !ready) return ready.error();
    if (auto taken = made.take_slot(mine); !taken) return taken.error();
    made.watch_ = os::FileWatch(made.file_, path.substr(0, path.rfind('/') + 1).c_str());
    if (made.is_at_path() && membership.is_at_path()) return made;  // else another process removed a file meanwhile
  }
  return LedgerFault{not_stored, path + " is removed again and again"};
}

// Bound: slot_count slots.
Expected<std::vector<LedgerHolder>, LedgerFault> LedgerFile::look(const std::string& path) {
  std::vector<LedgerHolder> holders;
  os::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  if (!file && errno == ENOENT) return holders;
  if (!file) return LedgerFault{ledger::not_allowed, path + " cannot be read: " + std::strerror(errno)};
  LedgerMembership nobody(path);
  LedgerFile open(path, std::move(file), nobody);
  if (auto fault = open.fault_of_header()) return std::move(*fault);
  for (std::size_t slot = 0; slot < open.slots(); ++slot) {
    LedgerHolder holder;
    const auto sum = open.read_slot(slot, holder.promises, open.buffer_);
    if (!sum || *sum == 0) continue;
    holder.pid = ledger::pid_in(open.buffer_);
    holders.push_back(std::move(holder));
  }
  return holders;
}

// Returns why a reader must not trust what follows the header. An empty file is a ledger that no process has entered
// yet.
std::optional<LedgerFault> LedgerFile::fault_of_header() const {
  struct stat found {};
  if (fstat(file_.get(), &found) == 0 && found.st_size == 0) return std::nullopt;
  const ledger::FileHeader header = read_header();
  if (ledger::is_sound(header)) return std::nullopt;
  if (ledger::is_other_version(header))
    return LedgerFault{not_stored, path_ + " has format version " + std::to_string(header.version) +
                                       " and this program reads " + std::to_string(ledger::version) +
                                       ": use the program of that version's servers"};
  return LedgerFault{not_stored, path_ +
                                     " is damaged; servers that use it mend it within a second: look again, and if "
                                     "none runs remove it"};
}

// All processes write the same header bytes, so several may write at once.
Expected<void, LedgerFault> LedgerFile::prepare_header() {
  for (int attempt = 0; attempt < attempts; ++attempt) {
    if (header_is_sound()) return {};
    if (ledger::is_other_version(read_header())) {
      if (!replace_other_version()) std::this_thread::sleep_for(std::chrono::milliseconds{1});
      continue;
    }
    struct stat found {};
    if (remark_.empty() && fstat(file_.get(), &found) == 0 && found.st_size != 0)
      remark_ = path_ + " was damaged; rebuilt, running servers enter their promises again";
    mend_header();
  }
  if (ledger::is_other_version(read_header()))
    return LedgerFault{not_stored, version_text() + "; servers of that version run: stop them, or " + elsewhere};
  return cannot_write(path_, errno);
}

std::string LedgerFile::version_text() const {
  return path_ + " has format version " + std::to_string(read_header().version) + " and this server writes " +
         std::to_string(ledger::version);
}

// Replaces a file of another version that no process uses. A process that uses the file has a lock somewhere in it,
// wherever its version puts that lock. False: a process has one.
bool LedgerFile::replace_other_version() {
  const auto alone = os::try_lock(file_);
  if (!alone || !*alone) return false;
  if (ledger::is_other_version(read_header())) {
    remark_ = version_text() + "; no server uses it any more, so it is replaced";
    if (ftruncate(file_.get(), 0) == 0) mend_header();
  }
  (void)os::unlock(file_);
  return true;
}

void LedgerFile::mend_header() const noexcept {
  const ledger::FileHeader header = ledger::make_header();
  (void)write_at(file_, std::as_bytes(std::span{&header, 1}), 0);
}

// First tries the slot of the entry that this process already has: that slot is kept free for it.
Expected<void, LedgerFault> LedgerFile::take_slot(std::span<const Promise> mine) {
  const std::size_t first = membership_->own().value_or(0);
  for (std::size_t i = 0; i <= ledger::slot_count; ++i) {
    slot_ = i == 0 ? first : i - 1;
    const auto taken = claim(slot_, mine);
    if (!taken) return cannot_write(path_, errno);
    if (*taken) return {};
  }
  return LedgerFault{ledger::full, path_ + " has no free slot; " + std::to_string(ledger::slot_count) +
                                       " servers run on this host: end some, or " + elsewhere};
}

// Takes a slot. The content is written before the slot counts, and the entry is taken after that, so a process that is
// only starting is never missed. The space for all that the slot may ever contain is allocated now. Before it takes the
// entry, it touches the file, which notifies all other processes. A process that was alone may miss the touch, but only
// if it made its check before the touch. It wrote its promises before that check. So this process sees them.
Expected<bool> LedgerFile::claim(std::size_t slot, std::span<const Promise> mine) {
  const auto claimed = os::try_lock(file_, claim_lock(slot));
  if (!claimed || !*claimed) return claimed;
  const auto living = lives(slot);
  if (!living) return living.error();
  if (!*living) {
    slot_sum_.reset();  // it is of another slot
    if (!os::take_room(file_, static_cast<off_t>(ledger::slot_offset(slot)), ledger::slot_size)) return not_stored;
    if (const auto written = write_own(mine); !written) return written.error();
    const auto alive = os::try_lock(file_, life_lock(slot));
    if (!alive) return alive;
    if (*alive) {
      if (!os::touch_file(file_)) return not_stored;
      const auto seated = membership_->take(slot);
      if (!seated || *seated) return seated;
      (void)os::unlock(file_, life_lock(slot));  // kept for the entry's owner, which has not entered this ledger yet
    }
  }
  if (const auto given_up = os::unlock(file_, claim_lock(slot)); !given_up) return given_up.error();
  return false;
}

// Returns a header with magic 0, which is not sound, if none can be read.
ledger::FileHeader LedgerFile::read_header() const noexcept {
  ledger::FileHeader header;
  if (!read_at(file_, std::as_writable_bytes(std::span{&header, 1}), 0)) header = {.magic = 0};
  return header;
}

bool LedgerFile::header_is_sound() const noexcept { return ledger::is_sound(read_header()); }

bool LedgerFile::is_at_path() const noexcept {
  struct stat there {};
  return stat(path_.c_str(), &there) == 0 && there.st_dev == device_ && there.st_ino == inode_;
}

Expected<bool> LedgerFile::try_enter() const noexcept { return os::try_lock(file_, transaction_lock(slot_)); }

void LedgerFile::leave() const noexcept { (void)os::unlock(file_, transaction_lock(slot_)); }

std::optional<std::int32_t> LedgerFile::inside() const noexcept {
  const auto held = os::conflicting_lock(file_, transaction_lock(0));
  if (!held || !*held) return std::nullopt;
  const auto slot = static_cast<std::size_t>((*held)->length - 2);
  std::array<std::byte, ledger::entries_offset> head;
  if (slot >= ledger::slot_count || !read_at(file_, head, ledger::slot_offset(slot))) return 0;
  return ledger::entries_of(head) ? ledger::pid_in(head) : 0;
}

std::size_t LedgerFile::slots() const noexcept {
  struct stat found {};
  return fstat(file_.get(), &found) == 0 ? ledger::slots_within(static_cast<std::size_t>(found.st_size)) : 0;
}

Expected<bool> LedgerFile::lives(std::size_t slot) const noexcept {
  return os::is_locked_elsewhere(file_, life_lock(slot));
}

// Clears the watch before it looks: a change during the look is kept, and causes another look.
Expected<void> LedgerFile::look_around(std::vector<Promise>& into) noexcept {
  settled_ = false;
  watch_.clear();
  if (!is_at_path() || !header_is_sound()) return unusable;
  const auto read = read_others(into);
  settled_ = read.has_value();
  return read;
}

Expected<void> LedgerFile::read_others(std::vector<Promise>& into) noexcept try {
  alone_ = false;
  const auto others = find_others(into, buffer_);
  if (!others) return others.error();
  alone_ = !others->any;
  seen_ = others->seen;
  return {};
} catch (const std::bad_alloc&) {
  return no_memory;
}

Expected<bool> LedgerFile::is_promised(int physical_core, Sight& sight) const noexcept try {
  if (!is_at_path() || !header_is_sound()) return unusable;
  if (const auto others = find_others(sight.promises, sight.buffer); !others) return others.error();
  return std::any_of(sight.promises.begin(), sight.promises.end(),
                     [&](const Promise& promise) { return promise.physical_core == physical_core; });
} catch (const std::bad_alloc&) {
  return no_memory;
}

// If no slot has an owner, the content of the slots does not count.
Expected<LedgerFile::Others> LedgerFile::find_others(std::vector<Promise>& into, MutableBytes buffer) const {
  into.clear();
  Others others;
  const auto anybody = anybody_from(0);
  if (!anybody) return anybody.error();
  others.any = *anybody;
  if (others.any) {
    const auto seen = read_slots(into, buffer);
    if (!seen) return seen.error();
    others.seen = *seen;
  }
  const auto missed = absentee();
  if (!missed) return missed.error();
  if (*missed) return unusable;
  return others;
}

// Bound: slot_count slots. A living owner beyond the end of the file means that the file was truncated: fails.
Expected<LedgerFile::Seen> LedgerFile::read_slots(std::vector<Promise>& into, MutableBytes buffer) const {
  Seen seen{};
  const std::size_t there = slots();
  for (std::size_t slot = 0; slot < there; ++slot) {
    if (slot == slot_) continue;
    const auto sum = read_slot(slot, into, buffer);
    if (!sum) return sum.error();
    seen[slot] = *sum;
  }
  const auto beyond = anybody_from(there);
  if (!beyond) return beyond.error();
  if (*beyond) return unusable;
  return seen;
}

// Returns whether any slot from `slot` on has an owner other than this process.
Expected<bool> LedgerFile::anybody_from(std::size_t slot) const noexcept {
  return os::is_locked_elsewhere(file_, {.start = static_cast<off_t>(ledger::slot_offset(slot)), .length = 0});
}

std::string LedgerFile::sit_again() {
  if (membership_->is_at_path() && membership_->own() == slot_) return {};
  if (const auto there = membership_->open(); !there) return there.error().text;
  const auto taken = membership_->take(slot_);
  if (!taken) return membership_->path() + " cannot be locked: " + std::strerror(errno);
  return *taken ? ""
                : "this server's entry in " + membership_->path() + " is taken by " +
                      ledger::server_text(membership_->pid(slot_));
}

// Bound: slot_count entries.
Expected<std::optional<std::size_t>> LedgerFile::absentee() const noexcept {
  const std::size_t entries = membership_->count();
  for (std::size_t entry = 0; entry < entries; ++entry) {
    if (entry == slot_) continue;
    const auto taken = membership_->is_taken(entry);
    const auto living = taken && *taken ? lives(entry) : Expected<bool>(true);
    if (!taken || !living) return !taken ? taken.error() : living.error();
    if (!*living) return std::optional(entry);
  }
  return std::optional<std::size_t>{};
}

// Adds the promises of a living owner to `into`. Returns the slot's checksum, which identifies them; 0: none count.
Expected<std::uint64_t> LedgerFile::read_slot(std::size_t slot, std::vector<Promise>& into, MutableBytes buffer) const {
  const std::size_t offset = ledger::slot_offset(slot);
  const MutableBytes head = buffer.first(ledger::entries_offset);
  if (!read_at(file_, head, offset)) return unreadable(slot);
  const auto entries = ledger::entries_of(head);
  if (!entries) return unreadable(slot);
  const MutableBytes whole = buffer.first(ledger::slot_bytes(*entries));
  if (!read_at(file_, whole, offset) || !ledger::is_sound(Bytes{whole})) return unreadable(slot);
  const auto alive = *entries == 0 ? Expected<bool>(false) : lives(slot);
  if (!alive) return alive.error();
  if (!*alive) return 0;
  for (std::size_t i = 0; i < *entries; ++i) {
    into.push_back(ledger::promise_at(whole, i));
    into.back().owner = static_cast<std::uint32_t>(slot);
  }
  return ledger::checksum_in(whole);
}

// Returns the result for a slot that cannot be read. It matters only if its owner lives: then the ledger is unusable
// until the owner has written the slot again.
Expected<std::uint64_t> LedgerFile::unreadable(std::size_t slot) const noexcept {
  const auto alive = lives(slot);
  if (!alive || *alive) return unusable;
  return std::uint64_t{0};
}

// Bound: slot_count slots.
bool LedgerFile::others_are_as_read() noexcept {
  const std::size_t there = slots();
  for (std::size_t slot = 0; slot < ledger::slot_count; ++slot) {
    if (slot == slot_) continue;
    const auto sum = slot < there ? look_at(slot) : Expected<std::uint64_t>(std::uint64_t{0});
    if (!sum || *sum != seen_[slot]) return false;
  }
  const auto beyond = anybody_from(there);  // a living owner beyond the end: the file was truncated
  return beyond && !*beyond;
}

// Does the same as read_slot(), but reads only the slot's head.
Expected<std::uint64_t> LedgerFile::look_at(std::size_t slot) noexcept {
  const MutableBytes head = MutableBytes{buffer_}.first(ledger::entries_offset);
  if (!read_at(file_, head, ledger::slot_offset(slot))) return unreadable(slot);
  const auto entries = ledger::entries_of(head);
  if (!entries) return unreadable(slot);
  const auto alive = *entries == 0 ? Expected<bool>(false) : lives(slot);
  if (!alive) return alive.error();
  return *alive ? ledger::checksum_in(head) : 0;
}

Expected<void> LedgerFile::write_own(std::span<const Promise> mine) noexcept {
  const auto size = ledger::write_slot(mine, self_, buffer_);
  if (!size) return ledger::too_many;
  write_fault_ = 0;
  const std::uint64_t sum = ledger::checksum_in(buffer_);
  if (slot_sum_ == sum) return {};
  slot_sum_.reset();
  if (!write_at(file_, Bytes{buffer_}.first(*size), ledger::slot_offset(slot_)))
    return write_fault_ = errno, not_stored;
  slot_sum_ = sum;
  // If two processes each write and then look at the other's slot, at least one of them sees the other: their writes
  // are in the order in which they took the inode's lock.
  // seq_cst: keeps our look after our write, even if a system call is no barrier
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return {};
}

bool LedgerFile::own_is(std::span<const Promise> mine) noexcept {
  const auto size = ledger::write_slot(mine, self_, buffer_);
  const MutableBytes found = MutableBytes{found_}.first(size.value_or(0));
  const bool is =
      read_at(file_, found, ledger::slot_offset(slot_)) && std::equal(found.begin(), found.end(), buffer_.begin());
  if (!is) slot_sum_.reset();
  return is;
}

}  // namespace corelane::dispatch
