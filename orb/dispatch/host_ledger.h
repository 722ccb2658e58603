// HostLedger: the cores of one host, shared by all its servers through a file. Every process has a slot in which it
// writes what it has promised; it reads the others' before it promises more, all under one lock. What a process wrote
// counts as long as it lives: its slot's lock goes with its last descriptor, after kill -9 too.
//
// Threads: lease() and maintain() on ordinary threads, a transaction on one thread at a time; maintain() and a
// transaction exclude each other (the transaction then answers TRANSIENT and is tried again).
// Invariants: a transaction sees every promise of every living process, or it does not open. A slot that cannot be
// read but whose owner lives keeps transactions shut until its owner has written it anew, which maintain() does from
// memory within its period; so damage loses nothing and never lets two processes promise the same capacity. Who has no
// slot opens no transaction.
// A child made by fork() without exec shares the parent's locks and keeps the promises until both are gone.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "orb/dispatch/core_provider.h"
#include "orb/dispatch/ledger_format.h"
#include "orb/os/fd.h"
#include "orb/os/pi_mutex.h"
#include "orb/os/topology.h"

namespace corelane::dispatch {

// Where this user's servers meet: $CORELANE_RUNTIME_DIRECTORY; else for root /run/corelane; else
// $XDG_RUNTIME_DIR/corelane; else /tmp/corelane-<uid>. All servers of a host that are to share honestly must agree on
// it.
std::string runtime_directory();

class HostLedger final : public CoreProvider {
 public:
  // Opens or makes <directory>/ledger and takes a slot. Waits while another process is in its transaction.
  // NO_PERMISSION: the directory is not ours or cannot be made; IMP_LIMIT: no free slot; PERSIST_STORE: the file is of
  // another format version, and servers of that version run.
  static Expected<std::unique_ptr<HostLedger>> open(const os::Topology& topology,
                                                    const std::string& directory = runtime_directory());
  ~HostLedger() override;

  Expected<std::vector<CoreLease>> lease(const LeaseRequest& request) override;
  Expected<std::span<const Promise>> begin() noexcept override;
  Expected<void> end(std::span<const Promise> mine) noexcept override;
  void abandon() noexcept override;
  void maintain() noexcept override;

  const std::string& path() const noexcept { return path_; }

 private:
  HostLedger(const os::Topology& topology, std::string path);
  Expected<void> attach();
  Expected<void> open_slot();
  Expected<void> mend_header();
  Expected<void> take_slot();
  ledger::FileHeader read_header() const noexcept;
  bool header_is_sound() const noexcept;
  bool is_the_file_at_path() const noexcept;
  Expected<void> read_others() noexcept;
  Expected<bool> read_slot(std::size_t slot) noexcept;
  Expected<void> write_own(std::span<const Promise> mine) noexcept;
  bool own_slot_is_intact() noexcept;
  void repair();

  // Constant after open().
  const std::vector<os::CoreInfo> cores_;
  const std::string path_;

  os::PiMutex mutex_;  // held through a transaction and through maintain()
  // Guarded by mutex_.
  os::Fd file_;           // open exactly while we hold a slot
  std::size_t slot_ = 0;  // of file_
  bool lost_ = false;     // the last attempt to attach failed, and the log says so
  std::vector<Promise> others_;
  std::vector<Promise> mine_;
  std::vector<std::byte> buffer_;  // one slot
};

// Every core that this process may use, and nobody asked: other processes are not seen. For `unguarded` servers (say so
// in the log) and for tests on made-up machines.
class UnguardedCores final : public CoreProvider {
 public:
  explicit UnguardedCores(const os::Topology& topology) : cores_(topology.cores()) {}

  Expected<std::vector<CoreLease>> lease(const LeaseRequest& request) override;
  Expected<std::span<const Promise>> begin() noexcept override { return std::span<const Promise>{}; }
  Expected<void> end(std::span<const Promise>) noexcept override { return {}; }
  void abandon() noexcept override {}
  void maintain() noexcept override {}

 private:
  const std::vector<os::CoreInfo> cores_;
};

}  // namespace corelane::dispatch
