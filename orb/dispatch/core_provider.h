// CoreProvider lends this process its cores. An executive admits tasks only on capacity that it holds. Several servers
// of one host agree through their providers (the host ledger, or the reservation daemon), so they never promise the
// same capacity twice.
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
  bool guarded = true;    // false: other processes may promise this core, too
  int cache = 0;          // its last-level cache: see os::CoreInfo
};

struct LeaseRequest {
  std::vector<CoreId> cores;           // the requested cores; empty: all that this process may use
  bool siblings = false;               // also the second and further hardware threads of a physical core
  std::vector<CoreId> by_deadlines{};  // those of them that will be scheduled by deadlines
};

enum class PromiseKind : std::uint8_t {
  task,
  platform,  // what a process runs above its tasks (manager, reader): C, T, J of `contract`, and `blocking`
};

// A promise of one process on one core: a task that it has admitted there, or its platform load. Other processes need
// the whole contract, not only the utilization. Priorities of different processes are not ordered among each other, so
// each process counts the others' tasks as interference above its own.
struct Promise {
  CoreId core{};
  int physical_core = 0;
  Contract contract{};
  std::uint32_t owner = 0;  // identifies the other process; the provider sets it
  PromiseKind kind = PromiseKind::task;
  Duration blocking{};  // of a platform load
  int levels = 0;       // distinct priorities that the owner uses on a core; 0: as many as it has tasks
};

// Returns whether the promise is valid: a sound contract, or a meaningful platform load.
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

  // Returns the cores on which this process may make promises. NO_RESOURCES no_core_leased if there is none.
  virtual Expected<std::vector<CoreLease>> lease(const LeaseRequest& request) = 0;

  // Opens a transaction. Returns what other processes have promised on this host, valid until the transaction closes.
  // TRANSIENT if another process is in its transaction, or the store is being repaired: try again soon. Never blocks.
  virtual Expected<std::span<const Promise>> begin() noexcept = 0;
  // Replaces this process's promises by `mine` and closes the transaction. On an error it also closes, and the old
  // promises stay. TRANSIENT ledger_busy: another process has changed its promises since begin(), so the decision was
  // not based on the current ones. Call it after begin().
  virtual Expected<void> end(std::span<const Promise> mine) noexcept = 0;
  // Does the same as end(), but on success the transaction stays open. Use it before a decision that cannot be undone.
  // A process that decides from now on sees `mine`. So what is decided within `mine` is safe, wherever this process may
  // be stopped.
  virtual Expected<void> claim(std::span<const Promise> mine) noexcept = 0;
  // Closes the transaction and leaves the promises as they were.
  virtual void abandon() noexcept = 0;

  // Returns whether begin() found no other process that could promise anything. Only then may a new task make other
  // tasks move, because end() cannot refuse a move. The tasks of a lost core move beside other processes, too. Whatever
  // a move may need must be claimed first. Call it within a transaction.
  virtual bool alone() const noexcept = 0;

  // Returns whether no other process has promised anything on that physical core right now; false also if that cannot
  // be found out. Makes some system calls for each other process. Any thread, but not within its own transaction; never
  // waits.
  virtual bool alone_on(int /*physical_core*/) noexcept { return false; }
  // Returns whether alone_on() can ever return true, because the provider sees the promises of others.
  virtual bool sees_others() const noexcept { return false; }

  // Gives back all promises of this process. Needs no transaction, because a promise may shrink at any time. Waits at
  // most for maintain(). Do not call it within a transaction.
  virtual void withdraw() noexcept = 0;

  // Returns whether the core has been taken back since lease(). Then nothing may be promised there, and the promises
  // end. If the core is leased to this process again later, the result is false again. Thread: as maintain().
  virtual bool is_revoked(CoreId) const noexcept { return false; }

  // Repairs what other processes damaged (a deleted or corrupted ledger), and logs it. Call it a few times a second,
  // except while is_settled() returns true and nothing happens in the runtime directory.
  virtual void maintain() noexcept = 0;
  // Returns whether the last maintain() left nothing to repair, to retry or to log. Then the next call may wait until
  // something happens in the runtime directory. Thread: as maintain().
  virtual bool is_settled() const noexcept { return false; }
};

}  // namespace corelane::dispatch
