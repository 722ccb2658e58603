// LedgerFile: the host ledger's file, open, with a slot in it that is ours. It says what the others promise and writes
// down what we do; when to do which is the HostLedger's.
//
// Nothing here waits for another process, so one that is stopped, wherever it stands, hinders nobody: a slot counts
// from the moment that its owner has written it, and the lock of a transaction is a courtesy that may be passed over.
//
// Threads: one at a time, but for is_promised(). What is noexcept does no more than a few system calls on a regular
// file for each slot.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "orb/dispatch/core_provider.h"
#include "orb/dispatch/ledger_fault.h"
#include "orb/dispatch/ledger_format.h"
#include "orb/dispatch/ledger_seats.h"
#include "orb/os/fd.h"
#include "orb/os/file_watch.h"

namespace corelane::dispatch {

namespace ledger {
inline std::string path_in(const std::string& runtime_directory) { return runtime_directory + "/ledger"; }
}  // namespace ledger

// A process with a slot, as its own namespace numbers it, and what stands there.
struct LedgerHolder {
  std::int32_t pid = 0;
  std::vector<Promise> promises;
};

class LedgerFile {
 public:
  // For who only looks on: those that live and can be read, none where there is no file or an empty one. Takes neither
  // slot nor lock. NO_PERMISSION: the file cannot be read; PERSIST_STORE: its header is damaged, or of another format
  // version.
  static Expected<std::vector<LedgerHolder>, LedgerFault> look(const std::string& path);

  // Opens or makes the file and that of the seats, mends its header, and takes a slot that says `mine`, with its seat.
  // NO_PERMISSION: it cannot be opened, or is no plain file; IMP_LIMIT ledger_full: no free slot; PERSIST_STORE: it is
  // of another format version that servers use, or the system refused to write. `seats` outlives this.
  static Expected<LedgerFile, LedgerFault> open(const std::string& path, std::span<const Promise> mine,
                                                LedgerSeats& seats);

  // What open() mended, for the log; "" when nothing.
  const std::string& remark() const noexcept { return remark_; }

  bool is_at_path() const noexcept;
  bool header_is_sound() const noexcept;
  void mend_header() const noexcept;

  // Whether look_around() found no other process and nothing has happened to the file since, for certain: so there is
  // still nobody, and the file is where it was. One system call, where look_around() takes some. See os::FileWatch.
  bool is_still_alone() const noexcept { return settled_ && alone_ && watch_.is_quiet(); }
  // As read_others(), where the file is at its path and its header sound; else TRANSIENT ledger_unusable.
  Expected<void> look_around(std::vector<Promise>& into) noexcept;
  // Whether another process has promised anything on that physical core. Errors: as look_around(). For a second thread,
  // beside one that does something else here: what open(), sit_again() and the destructor do excepted.
  struct Sight {
    std::vector<Promise> promises;
    std::vector<std::byte> buffer = std::vector<std::byte>(ledger::slot_size);
  };
  Expected<bool> is_promised(int physical_core, Sight& sight) const noexcept;

  // The lock of a transaction. False: another process has it.
  Expected<bool> try_enter() const noexcept;
  void leave() const noexcept;
  // The process that has it, as its own namespace numbers it; 0: not known who; nothing: nobody.
  std::optional<std::int32_t> inside() const noexcept;

  // Replaces `into` by the promises of all other living processes. TRANSIENT ledger_unusable: those of one cannot be
  // read, or he has a seat and is not here; NO_MEMORY.
  Expected<void> read_others(std::vector<Promise>& into) noexcept;
  // Whether it found no other process at all.
  bool alone() const noexcept { return alone_; }
  // Takes our seat again where its file was removed or it was not to be had. Why that cannot be done, for the log; ""
  // when we have it.
  std::string sit_again();
  // The seat of a server that lives and has not entered this ledger.
  Expected<std::optional<std::size_t>> absentee() const noexcept;
  // Whether they are still what read_others() found.
  bool others_are_as_read() noexcept;

  // Writes nothing where that stands there already, as far as we know: a refusal changes no promise. PERSIST_STORE
  // system_refused, and write_fault() is then its errno.
  Expected<void> write_own(std::span<const Promise> mine) noexcept;
  int write_fault() const noexcept { return write_fault_; }  // of the latest write_own(); 0: none
  // Whether it is really there; if not the next write_own() writes it.
  bool own_is(std::span<const Promise> mine) noexcept;

 private:
  LedgerFile(std::string path, os::Fd file, LedgerSeats& seats);
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
    Seen seen{};       // of each slot its checksum; 0: no promise that counts
  };
  Expected<Others> find_others(std::vector<Promise>& into, MutableBytes buffer) const;
  Expected<Seen> read_slots(std::vector<Promise>& into, MutableBytes buffer) const;
  Expected<bool> anybody_from(std::size_t slot) const noexcept;
  Expected<std::uint64_t> read_slot(std::size_t slot, std::vector<Promise>& into, MutableBytes buffer) const;
  Expected<std::uint64_t> unreadable(std::size_t slot) const noexcept;

  std::string path_;
  os::Fd file_;
  LedgerSeats* seats_;
  std::int32_t self_ = 0;     // this process, for others' logs
  std::uint64_t device_ = 0;  // of the file, with its number there
  std::uint64_t inode_ = 0;
  os::FileWatch watch_;
  std::size_t slot_ = 0;  // ours
  std::string remark_;
  bool settled_ = false;  // look_around() succeeded, and what came before it was forgotten
  bool alone_ = false;
  int write_fault_ = 0;
  std::optional<std::uint64_t> standing_;  // the checksum of what we know to be in our slot
  Seen seen_{};                            // by read_others()
  std::vector<std::byte> buffer_, found_;  // one slot each
};

}  // namespace corelane::dispatch
