// HostLedger: the cores of one host, shared by all its servers through a file. Every process has a slot in which it
// writes what it has promised; it reads the others' before it promises more, all under one lock. What a process wrote
// counts as long as it lives: its slot's lock goes with its last descriptor, after kill -9 too.
//
// Transactions. Their lock keeps them apart as long as its holder makes way in time. A holder that does not (stopped,
// or starved of its core) is passed over: whoever has waited for `longest_wait` goes in without the lock. So the lock
// decides nothing: a transaction is good when, after its promise was written, all others' promises are still those that
// it was decided on; else the old promise is written back and the transaction is tried again. Of two that overlap at
// least one finds the other, also a holder that goes on after it was passed over. While both stand there each other's
// readers see more promised than will be, never less. What cannot be taken back (tasks are moved) is decided between
// claim() and end().
//
// Who is alone needs neither the lock nor to read on: what it promised is written, and then one system call tells that
// nothing has happened to the file since it was found to be alone (os::FileWatch). Whoever comes takes a slot, touches
// the file, and reads then: it is either heard of, or has found what was written. Only a directory further up that is
// renamed, or mounted over, is not heard of; maintain() finds that. There is nobody then whose promises could be missed
// here, and who starts there knows nothing of ours until maintain() entered them, as where both files were removed.
//
// The file is this host's as long as it is at its path. A server that finds it gone enters its promises into the one
// that is there then, or makes it (maintain()). Until then its seat (ledger_seats.h) tells others that they do not know
// all promises, and their transactions stay shut. Where the seats went, too, a server may have come in between that
// knew of nothing: whoever then finds a core promised twice says so, and there is no room there until it is not.
//
// Threads: lease() and maintain() on ordinary threads, a transaction on one thread at a time, alone_on() on any.
// maintain() and a transaction exclude each other (the transaction then answers TRANSIENT and is tried again), and so
// do maintain() and alone_on() (maintain() waits, alone_on() says no). alone_on() hinders no transaction, however long
// its thread is kept from the core.
//
// Invariants: a transaction sees every promise of every living process, or it does not open. A slot that cannot be read
// but whose owner lives keeps transactions shut until its owner has written it anew, which maintain() does from memory
// within its period; so damage loses nothing and never lets two processes promise the same capacity. Who has no slot
// opens no transaction. A child made by fork() without exec shares the parent's locks and keeps the promises until both
// are gone.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "orb/dispatch/core_provider.h"
#include "orb/dispatch/ledger_file.h"
#include "orb/dispatch/ledger_seats.h"
#include "orb/dispatch/revoked_cores.h"
#include "orb/os/pi_mutex.h"
#include "orb/os/topology.h"

namespace corelane::dispatch {

// Where this user's servers meet: $CORELANE_RUNTIME_DIRECTORY; else for root /run/corelane; else
// $XDG_RUNTIME_DIR/corelane; else /tmp/corelane-<uid>, or, where another user has taken that name, a directory in
// $HOME. All servers of a host that are to share honestly must agree on it; the directory above it has to be there.
std::string runtime_directory();

// Why that is the directory in $HOME, as a sentence; "": it is not.
std::string runtime_directory_remark();

class HostLedger final : public CoreProvider {
 public:
  // How long a transaction of another process is respected.
  static constexpr Duration longest_wait = std::chrono::seconds{1};

  // Makes the directory where its parent is there, opens or makes <directory>/ledger and takes a slot. Waits for
  // nobody. NO_PERMISSION: directory or file are not ours, cannot be made, or are something else; else as
  // LedgerFile::open(). The log says what, and how to mend it.
  static Expected<std::unique_ptr<HostLedger>> open(const os::Topology& topology,
                                                    const std::string& directory = runtime_directory());
  ~HostLedger() override;

  Expected<std::vector<CoreLease>> lease(const LeaseRequest& request) override;
  Expected<std::span<const Promise>> begin() noexcept override;
  Expected<void> end(std::span<const Promise> mine) noexcept override;
  Expected<void> claim(std::span<const Promise> mine) noexcept override;
  void abandon() noexcept override;
  bool alone() const noexcept override { return file_ && file_->alone(); }
  bool alone_on(int physical_core) noexcept override;
  bool sees_others() const noexcept override { return true; }
  void withdraw() noexcept override;
  void maintain() noexcept override;
  // Those that <directory>/revoked names.
  bool is_revoked(CoreId core) const noexcept override { return revoked_.has(core); }

  const std::string& path() const noexcept { return path_; }

 private:
  HostLedger(const os::Topology& topology, std::string directory, LedgerFile file, std::unique_ptr<LedgerSeats> seats);
  Expected<void> open_transaction() noexcept;
  Expected<void> enter() noexcept;
  Expected<void> put(std::span<const Promise> mine) noexcept;
  Expected<void> write(std::span<const Promise> mine) noexcept;
  void note_fault(const Error& error) noexcept;
  bool is_as_begun() noexcept;
  // What maintain() found and did, for the log: with no lock held, since a log may have to wait for its terminal.
  struct Findings {
    bool replaced = false, header = false, entries = false;
    bool twice = false, once = false;      // a core is promised twice, or is so no longer
    CoreId core = no_core;                 // which
    std::optional<std::int32_t> absentee;  // a process that lives and is not in the ledger; 0: not known which
    std::optional<LedgerFault> fault;
    std::string remark;
    std::string seat;                   // why we have none
    std::optional<std::int32_t> stuck;  // who keeps the transaction's lock; 0: not known who
    Duration stuck_for{};
    int system_fault = 0;      // why the file cannot be locked or written
    std::size_t too_many = 0;  // promises that our slot has no room for
  };
  void repair(Findings& findings);
  void attach(Findings& findings);
  void look_for_seat(Findings& findings);
  void look_for_stuck(Findings& findings);
  void look_for_absentee(Findings& findings) noexcept;
  void look_for_room(Findings& findings);
  std::optional<CoreId> promised_twice() const;
  bool has_deadline_core(int physical_core) const;
  void look_for_system_fault(Findings& findings) noexcept;
  void tell(const Findings& findings) const;

  // Constant after open().
  const std::vector<os::CoreInfo> cores_;
  const std::string directory_;
  const std::string path_;  // in there

  // Of lease(), maintain() and is_revoked(), which one thread calls at a time.
  RevokedCores revoked_;
  std::vector<CoreId> by_deadlines_;  // of those leased

  os::PiMutex looking_;  // held by alone_on() and through maintain(); before mutex_
  LedgerFile::Sight sight_;

  os::PiMutex mutex_;  // held through a transaction and through maintain()
  // Guarded by mutex_.
  std::optional<LedgerFile> file_;            // there exactly while we hold a slot; replaced with looking_ held, too
  const std::unique_ptr<LedgerSeats> seats_;  // behind file_: who ends leaves his seat before his slot
  bool inside_ = false;                       // we have the transaction's lock
  bool lost_ = false;                         // the last attempt to attach failed, and the log says so
  Time blocked_since_ = never;                // somebody else has the transaction's lock, at each look since then
  bool said_stuck_ = false;
  bool said_seat_ = false;     // the log says why we have no seat
  Time missed_since_ = never;  // somebody who lives was not in the ledger, at each look since then
  bool said_absentee_ = false;
  bool looks_for_room_ = false;  // others may have come while we were not in the ledger
  bool said_twice_ = false;
  int system_fault_ = 0;       // errno of the last lock or write that failed; 0 after a write that succeeded
  int said_system_fault_ = 0;  // what the log knows of it
  std::size_t too_many_ = 0;   // promises that were asked for at once, beyond a slot's room; 0: they never were
  bool said_too_many_ = false;
  std::vector<Promise> others_;
  std::vector<Promise> mine_;
};

// Every core that this process may use, and nobody asked: other processes are not seen. For `unguarded` servers (say so
// in the log) and for tests on made-up machines.
class UnguardedCores final : public CoreProvider {
 public:
  // `promises`: somebody may be promised a core, so that the log warns of others who promise it, too.
  explicit UnguardedCores(const os::Topology& topology, bool promises = true)
      : cores_(topology.cores()), promises_(promises) {}

  Expected<std::vector<CoreLease>> lease(const LeaseRequest& request) override;
  Expected<std::span<const Promise>> begin() noexcept override { return std::span<const Promise>{}; }
  Expected<void> end(std::span<const Promise>) noexcept override { return {}; }
  Expected<void> claim(std::span<const Promise>) noexcept override { return {}; }
  void abandon() noexcept override {}
  bool alone() const noexcept override { return true; }
  void withdraw() noexcept override {}
  void maintain() noexcept override {}

 private:
  const std::vector<os::CoreInfo> cores_;
  const bool promises_;
};

}  // namespace corelane::dispatch
