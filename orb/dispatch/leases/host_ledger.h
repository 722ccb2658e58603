// HostLedger lets all servers of one host share its cores through a file. Each process has a slot in which it writes
// what it has promised. Before it promises more, it reads the others' slots in a transaction. A promise counts as long
// as its process lives: the kernel drops the slot's lock with the process's last descriptor, also after kill -9.
//
// Transactions. The lock keeps transactions apart as long as its holder releases it in time. The holder may fail to do
// so, because it is stopped or gets no time on its core. Then a process that has waited for `longest_wait` continues
// without the lock. So correctness does not depend on the lock. A transaction is valid if, after it has written its
// promises, all others' promises are still those that it was decided on. Otherwise it writes the old promises back and
// is tried again. Of two transactions that overlap, at least one detects the other, even if a holder continues after it
// was passed over. While the promises of both are in the file, readers see more promised than will be, never less.
// Decisions that cannot be undone, such as moves of tasks, are made between claim() and end().
//
// A process that is alone needs neither the lock nor another read. After it has written its promises, one system call
// tells whether the file has changed since the process was found to be alone (os::FileWatch). A server that starts
// takes a slot, touches the file, and then reads. So either this process notices the new server, or the new server has
// read the promises. The watch misses only one thing: a parent directory is renamed or mounted over. maintain() detects
// that. In that case no other process has promises in this file. A server that starts at the new place does not know
// our promises until maintain() has entered them there. The same is true when both files were removed.
//
// The file is valid as long as it is at its path. If a server finds it gone, maintain() enters its promises into the
// file that is there then, or creates it. Until then, the server's entry in a second file (ledger_membership.h) tells
// others that they do not know all promises. So their transactions do not open. If the entries were removed, too,
// another server may have started that knew of no promises. The server that then finds a core promised twice logs it,
// and nothing is admitted there until that is over.
//
// Threads: ordinary threads call lease() and maintain(). One thread at a time has a transaction. Any thread calls
// alone_on(). While maintain() runs, a transaction answers TRANSIENT, and is tried again. maintain() and alone_on()
// exclude each other, too: maintain() waits, but alone_on() returns false. alone_on() never delays a transaction,
// however long its thread is kept from its core.
//
// Invariants:
// - A transaction sees every promise of every living process, or it does not open.
// - A slot that cannot be read although its owner lives keeps transactions closed until the owner has written it again.
//   maintain() does that from memory within its period. So damage to a slot loses nothing, and never lets two processes
//   promise the same capacity.
// - A process without a slot opens no transaction.
// - A child made by fork() without exec shares the parent's locks, and keeps the promises until both are gone.
//
// The folder orb/dispatch/leases shares the cores of a host between processes, and watches the cores that this process
// holds.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "orb/base/thread_safety.h"
#include "orb/dispatch/core_provider.h"
#include "orb/dispatch/leases/ledger_file.h"
#include "orb/dispatch/leases/ledger_membership.h"
#include "orb/dispatch/leases/ledger_troubles.h"
#include "orb/dispatch/leases/revoked_cores.h"
#include "orb/os/machine/topology.h"
#include "orb/os/pi_mutex.h"

namespace corelane::dispatch {

// Returns the directory through which this user's servers find each other, the first of these:
// - $CORELANE_RUNTIME_DIRECTORY;
// - for root /run/corelane;
// - $XDG_RUNTIME_DIR/corelane;
// - /tmp/corelane-<uid> or, if another user has taken that name, a directory in $HOME.
// All servers of a host that share its cores must use the same directory. Its parent directory must exist.
std::string runtime_directory();

// Returns a sentence that says why it is the directory in $HOME; "" if it is not.
std::string runtime_directory_remark();

class HostLedger final : public CoreProvider {
 public:
  // How long a transaction of another process is waited for.
  static constexpr Duration longest_wait = std::chrono::seconds{1};

  // Creates the directory if its parent exists, opens or creates <directory>/ledger, and takes a slot. Does not wait
  // for other processes. NO_PERMISSION: the directory or the file belongs to another user, cannot be created, or is of
  // another kind. Other errors as LedgerFile::open(). The log says what is wrong and how to repair it.
  static Expected<std::unique_ptr<HostLedger>> open(const os::Topology& topology,
                                                    const std::string& directory = runtime_directory());
  ~HostLedger() override;

  Expected<std::vector<CoreLease>> lease(const LeaseRequest& request) override;
  Expected<std::span<const Promise>> begin() noexcept override;
  Expected<void> end(std::span<const Promise> mine) noexcept override;
  Expected<void> claim(std::span<const Promise> mine) noexcept override;
  void abandon() noexcept override;
  bool alone() const noexcept override;
  bool alone_on(int physical_core) noexcept override;
  bool sees_others() const noexcept override { return true; }
  void withdraw() noexcept override;
  void maintain() noexcept override;
  bool is_settled() const noexcept override { return settled_; }
  // Returns whether <directory>/revoked names the core.
  bool is_revoked(CoreId core) const noexcept override { return revoked_.has(core); }

  const std::string& path() const noexcept { return path_; }

 private:
  HostLedger(const os::Topology& topology, std::string directory, LedgerFile file,
             std::unique_ptr<LedgerMembership> membership);
  Expected<void> open_transaction() noexcept CORELANE_REQUIRES(mutex_);
  Expected<void> enter() noexcept CORELANE_REQUIRES(mutex_);
  Expected<void> put(std::span<const Promise> mine) noexcept CORELANE_REQUIRES(mutex_);
  Expected<void> write(std::span<const Promise> mine) noexcept CORELANE_REQUIRES(mutex_);
  void note_fault(const Error& error) noexcept CORELANE_REQUIRES(mutex_);
  bool is_as_begun() noexcept CORELANE_REQUIRES(mutex_);
  bool is_in_order() const noexcept CORELANE_REQUIRES(mutex_);
  void repair(LedgerFindings& findings) CORELANE_REQUIRES(looking_, mutex_);
  void attach(LedgerFindings& findings) CORELANE_REQUIRES(looking_, mutex_);
  void look_for_entry(LedgerFindings& findings) CORELANE_REQUIRES(mutex_);
  void look_for_stuck(LedgerFindings& findings) CORELANE_REQUIRES(mutex_);
  void look_for_absentee(LedgerFindings& findings) noexcept CORELANE_REQUIRES(mutex_);
  void look_for_room(LedgerFindings& findings) CORELANE_REQUIRES(mutex_);
  std::optional<CoreId> promised_twice() const CORELANE_REQUIRES(mutex_);
  bool has_deadline_core(int physical_core) const;

  // Constant after open().
  const std::vector<os::CoreInfo> cores_;
  const std::string directory_;
  const std::string path_;  // of the ledger in directory_

  // Used by lease(), maintain() and is_revoked(), which one thread calls at a time.
  RevokedCores revoked_;
  std::vector<CoreId> by_deadlines_;  // the leased cores that are scheduled by deadlines
  bool settled_ = false;              // see is_settled()

  // Held by alone_on() and throughout maintain(); locked before mutex_.
  os::PiMutex looking_;
  LedgerFile::Sight sight_ CORELANE_GUARDED_BY(looking_);

  os::PiMutex mutex_;  // held throughout a transaction and throughout maintain()
  // Set exactly while we hold a slot; replaced with looking_ held, too.
  std::optional<LedgerFile> file_ CORELANE_GUARDED_BY(mutex_);
  // After file_: a process that ends gives up its entry before its slot.
  const std::unique_ptr<LedgerMembership> membership_ CORELANE_PT_GUARDED_BY(mutex_);
  bool inside_ CORELANE_GUARDED_BY(mutex_) = false;  // we have the transaction's lock
  bool lost_ CORELANE_GUARDED_BY(mutex_) = false;    // the last attempt to attach failed, and that was logged
  // Other processes may have started while we were not in the ledger.
  bool looks_for_room_ CORELANE_GUARDED_BY(mutex_) = false;
  LedgerTroubles troubles_ CORELANE_GUARDED_BY(mutex_);
  std::vector<Promise> others_ CORELANE_GUARDED_BY(mutex_);
  std::vector<Promise> mine_ CORELANE_GUARDED_BY(mutex_);
};

// UnguardedCores provides every core that this process may use, without seeing other processes. It is for `unguarded`
// servers, and for tests on simulated machines.
class UnguardedCores final : public CoreProvider {
 public:
  // `promises`: tasks may be promised a core. lease() then warns in the log that other servers may promise the same
  // cores.
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
  bool is_settled() const noexcept override { return true; }

 private:
  const std::vector<os::CoreInfo> cores_;
  const bool promises_;
};

}  // namespace corelane::dispatch
