// CoreProvider: who lends this process its cores. An executive admits only on capacity that it holds; several servers
// of one host agree through their provider (the host ledger, or the reservation daemon) and never promise a core twice.
//
// Threads: lease() at start-up; a transaction on one thread at a time (the manager); maintain() on a thread that is not
// real-time, at any time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "orb/base/contract.h"
#include "orb/base/expected.h"
#include "orb/base/ids.h"

namespace corelane::dispatch {

struct CoreLease {
  CoreId core;            // one hardware thread
  int physical_core = 0;  // hardware threads with the same number are siblings
  bool guarded = true;    // false: nobody keeps other processes from promising this core, too
};

struct LeaseRequest {
  std::vector<CoreId> cores;           // those wanted; empty: all that this process may use
  bool siblings = false;               // also the second and further hardware threads of a physical core
  std::vector<CoreId> by_deadlines{};  // of those, the ones that will run by deadlines
};

enum class PromiseKind : std::uint8_t {
  task,
  platform,  // what a process runs above its tasks there (manager, reader): C, T, J of `contract` and `blocking`
};

// One task of one process on one core: what that process has promised; or its platform load there. Other processes need
// all of it, not only the utilization: priorities of different processes are not ordered among each other, so each
// takes the others' tasks as interference above its own.
struct Promise {
  CoreId core{};
  int physical_core = 0;
  Contract contract{};
  std::uint32_t owner = 0;  // tells the other processes apart; the provider sets it
  PromiseKind kind = PromiseKind::task;
  Duration blocking{};  // of a platform load
  int levels = 0;       // priorities that the owner tells apart on a core; 0: as many as it has tasks
};

// Whether a provider may believe it: a sound contract, or a load that means something.
constexpr bool is_sound(const Promise& p) noexcept {
  const Contract& c = p.contract;
  if (p.kind == PromiseKind::task) return corelane::is_sound(c);
  if (p.kind != PromiseKind::platform || p.blocking < Duration::zero() || c.jitter < Duration::zero()) return false;
  return c.budget == Duration::zero() ||
         (c.budget > Duration::zero() && c.budget <= c.period && c.period <= longest_period);
}

class CoreProvider {
 public:
  virtual ~CoreProvider() = default;

  // The cores on which this process may make promises. NO_RESOURCES no_core_leased when there is none.
  virtual Expected<std::vector<CoreLease>> lease(const LeaseRequest& request) = 0;

  // Opens a transaction. Gives what the others have promised on this host, valid until the transaction closes.
  // TRANSIENT when another process is in its transaction right now, or the store is being mended: try again soon. Never
  // blocks.
  virtual Expected<std::span<const Promise>> begin() noexcept = 0;
  // Replaces what this process promises by `mine` and closes the transaction. On an error the old promise stands and
  // the transaction is closed all the same: TRANSIENT ledger_busy when another process has changed its promises since
  // begin(), so that ours would not be decided on what stands there. Needs begin().
  virtual Expected<void> end(std::span<const Promise> mine) noexcept = 0;
  // As end(), but the transaction stays open when it succeeded: before a decision that cannot be taken back. Whoever
  // decides from here on sees `mine`, so what is decided within it stands, wherever this process may be stopped.
  virtual Expected<void> claim(std::span<const Promise> mine) noexcept = 0;
  // Closes the transaction and leaves the promise as it was.
  virtual void abandon() noexcept = 0;

  // Whether no other process is there that could promise anything, as begin() found it. A decision that changes more
  // than what end() may refuse (tasks are moved) is for one that is alone, and has claimed what it may need. Within a
  // transaction.
  virtual bool alone() const noexcept = 0;

  // Whether nobody else has promised anything on that physical core right now; false also where that cannot be found
  // out. Some system calls for each other process. Any thread, not within a transaction of its own; never waits.
  virtual bool alone_on(int /*physical_core*/) noexcept { return false; }
  // Whether alone_on() can ever say yes: the provider sees what others promise.
  virtual bool sees_others() const noexcept { return false; }

  // Gives back all that this process promises. Needs no transaction: a promise may shrink at any time. Waits for
  // maintain() at most. Not within a transaction.
  virtual void withdraw() noexcept = 0;

  // Whether the core is taken back since lease(): nothing may be promised there, and what was promised ends. It may be
  // lent again later: then false. Thread: as maintain().
  virtual bool is_revoked(CoreId) const noexcept { return false; }

  // A few times a second: repairs what others damaged (a deleted or spoiled ledger), and says so in the log.
  virtual void maintain() noexcept = 0;
};

}  // namespace corelane::dispatch
