// LedgerFile is the open file of the host ledger, with one slot in it that belongs to this process. It reads what other
// processes promise, and writes what this process promises. HostLedger decides when to do which.
//
// No function waits for another process, so a process that is stopped at any point blocks no other. A slot counts from
// the moment that its owner has written it. The lock of a transaction is advisory: a process may ignore it.
//
// Threads: one at a time, except for is_promised(). A function that is noexcept makes only a few system calls on a
// regular file for each slot.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "orb/dispatch/core_provider.h"
#include "orb/dispatch/leases/ledger_fault.h"
#include "orb/dispatch/leases/ledger_format.h"
#include "orb/dispatch/leases/ledger_membership.h"
#include "orb/os/fd.h"
#include "orb/os/files/file_watch.h"

namespace corelane::dispatch {

namespace ledger {
inline std::string path_in(const std::string& runtime_directory) { return runtime_directory + "/ledger"; }
}  // namespace ledger

// LedgerHolder is a process with a slot: its pid in its own pid namespace, and the promises in the slot.
struct LedgerHolder {
  std::int32_t pid = 0;
  std::vector<Promise> promises;
};

class LedgerFile {
 public:
  // Returns the processes that live and whose slots can be read, for a program that only looks on. There are none if
  // the file is missing or empty. Takes neither a slot nor a lock. Errors: NO_PERMISSION: the file cannot be read;
  // PERSIST_STORE: its header is damaged, or of another format version.
  static Expected<std::vector<LedgerHolder>, LedgerFault> look(const std::string& path);

  // Opens or creates the ledger's file and the file of the entries (LedgerMembership), repairs the header, and takes a
  // slot with its entry. The slot contains `mine`. Errors: NO_PERMISSION: a file cannot be opened, or is not a regular
  // file; IMP_LIMIT ledger_full: there is no free slot; PERSIST_STORE: servers use the file in another format version,
  // or the system refused to write. `membership` must outlive the result.
  static Expected<LedgerFile, LedgerFault> open(const std::string& path, std::span<const Promise> mine,
                                                LedgerMembership& membership);

  // Returns what open() repaired, for the log; "" if nothing.
  const std::string& remark() const noexcept { return remark_; }

  bool is_at_path() const noexcept;
  bool header_is_sound() const noexcept;
  void mend_header() const noexcept;

  // Returns whether look_around() found no other process and certainly nothing has happened to the file since. Then
  // there is still no other process, and the file is still at its path. Makes one system call, where look_around()
  // makes several. See os::FileWatch.
  bool is_still_alone() const noexcept { return settled_ && alone_ && watch_.is_quiet(); }
  // Does the same as read_others(), if the file is at its path and its header is sound. Otherwise fails with TRANSIENT
  // ledger_unusable.
  Expected<void> look_around(std::vector<Promise>& into) noexcept;
  // Returns whether another process has promised anything on that physical core. Errors: as look_around(). A second
  // thread may call it while one thread uses the other functions, except for open(), sit_again() and the destructor.
  struct Sight {
    std::vector<Promise> promises;
    std::vector<std::byte> buffer = std::vector<std::byte>(ledger::slot_size);
  };
  Expected<bool> is_promised(int physical_core, Sight& sight) const noexcept;

  // Takes the lock of a transaction. False: another process has it.
  Expected<bool> try_enter() const noexcept;
  void leave() const noexcept;
  // Returns the pid, in its own pid namespace, of the process that has the lock; 0: not known which; nothing: none has
  // it.
  std::optional<std::int32_t> inside() const noexcept;

  // Replaces `into` with the promises of all other living processes. Errors: TRANSIENT ledger_unusable: the promises of
  // a process cannot be read, or a process has an entry but no slot in this file; NO_MEMORY.
  Expected<void> read_others(std::vector<Promise>& into) noexcept;
  // Returns whether read_others() found no other process at all.
  bool alone() const noexcept { return alone_; }
  // Takes this process's entry again, if its file was removed or the entry could not be taken before. Returns why that
  // fails, for the log; "" if this process has its entry.
  std::string sit_again();
  // Returns the entry of a server that lives and has not entered this ledger; nothing: there is none.
  Expected<std::optional<std::size_t>> absentee() const noexcept;
  // Returns whether the others' promises are still those that read_others() found.
  bool others_are_as_read() noexcept;

  // Writes the slot, unless it is known to contain `mine` already: a refusal changes no promise. Errors: IMP_LIMIT:
  // more promises than a slot holds; PERSIST_STORE system_refused, with its errno in write_fault().
  Expected<void> write_own(std::span<const Promise> mine) noexcept;
  int write_fault() const noexcept { return write_fault_; }  // errno of the latest write_own(); 0: none
  // Returns whether the slot really contains `mine`. If not, the next write_own() writes it.
  bool own_is(std::span<const Promise> mine) noexcept;

 private:
  LedgerFile(std::string path, os::Fd file, LedgerMembership& membership);
  std::optional<LedgerFault> fault_of_header() const;
  Expected<void, LedgerFault> prepare_header();
  bool replace_other_version();
  std::string version_text() const;
  Expected<void, LedgerFault> take_slot(std::span<const Promise> mine);
  Expected<bool> claim(std::size_t slot, std::span<const Promise> mine);
  ledger::FileHeader read_header() const noexcept;
  std::size_t slots() const noexcept;
  Expected<bool> lives(std::size_t slot) const noexcept;
  Expected<std::uint64_t> look_at(std::size_t slot) noexcept;
  using Seen = std::array<std::uint64_t, ledger::slot_count>;
  struct Others {
    bool any = false;  // processes, not promises
    Seen seen{};       // checksum of each slot; 0: no promise that counts
  };
  Expected<Others> find_others(std::vector<Promise>& into, MutableBytes buffer) const;
  Expected<Seen> read_slots(std::vector<Promise>& into, MutableBytes buffer) const;
  Expected<bool> anybody_from(std::size_t slot) const noexcept;
  Expected<std::uint64_t> read_slot(std::size_t slot, std::vector<Promise>& into, MutableBytes buffer) const;
  Expected<std::uint64_t> unreadable(std::size_t slot) const noexcept;

  std::string path_;
  os::Fd file_;
  LedgerMembership* membership_;
  std::int32_t self_ = 0;     // pid of this process, for the logs of other processes
  std::uint64_t device_ = 0;  // of the file, together with inode_
  std::uint64_t inode_ = 0;
  os::FileWatch watch_;
  std::size_t slot_ = 0;  // ours
  std::string remark_;
  bool settled_ = false;  // look_around() succeeded; events before it were cleared
  bool alone_ = false;
  int write_fault_ = 0;
  std::optional<std::uint64_t> slot_sum_;  // checksum of what is known to be in our slot
  Seen seen_{};                            // as read_others() found them
  std::vector<std::byte> buffer_, found_;  // one slot each
};

}  // namespace corelane::dispatch
