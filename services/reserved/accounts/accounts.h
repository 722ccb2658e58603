// Accounts decides which reservation owns which core of the host, which requests wait, and which reservation is lent to
// which service. It is a state machine: facts go in, commands come out. A Backend (backends/backend.h) executes the
// commands in order. If the backend cannot execute them, the fact Failed undoes the reservation.
//
// Whole cores are taken out of the default set. Shares (a budget in every period) are packed onto cores of their own,
// which are also taken out of the default set. A share goes to the fullest core that has room (best fit). The sum of
// budget / period on a core stays at or below `shared_limit`. Threads (SCHED_DEADLINE) and process trees (control
// groups) never share a core, since deadline threads would preempt the trees.
//
// Memory, cache and disk (resource_book.h) can be reserved only together with cores or a share.
//
// After the commands of a fact have been executed, the caller tells the fact NotFreedYet: what the kernel has not freed
// yet of reservations that ended. Only this fact serves the queue, because a waiting reservation can get only what is
// free. Waiting reservations are served in order. A request that needs a new core never overtakes a waiting one. A
// share may overtake if it fits on a core that is already shared, unless it asks for a resource that a waiting
// reservation needs.
//
// Threads: one at a time. Pure: no clock, no I/O.
// Invariant: each core is in the default set, or in one other set, or kept idle for one set.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "orb/base/expected.h"
#include "orb/os/machine/topology.h"
#include "services/reserved/accounts/facts.h"

namespace corelane::reserved {

struct AccountLimits {
  std::size_t reservations = 1024;  // including those that wait
  std::size_t of_user = 64;         // of one user
  std::size_t loans = 16;           // of one reservation: open ones, and closed ones; the oldest closed are summed up
  std::size_t charges = 64;         // entries of one reservation; the last one is for all other clients
  std::size_t note = 200;           // bytes
};

struct AccountOptions {
  std::vector<CoreId> kept{};  // ascending; always in the default set, never reserved. Empty: the first physical core
  ReservationId first_id{1};
  bool enforces = true;  // false: only affinity keeps other programs off the cores
  AccountLimits limits{};
};

enum class CoreUse : std::uint8_t { common, taken, kept_idle, shared, withheld, held };

// A part of a core, as a whole number of billionths. parts_of() rounds up to it.
using PartsPerBillion = std::int64_t;
inline constexpr PartsPerBillion whole_core = 1'000'000'000;
// The kernel keeps 5 % for other threads (kernel.sched_rt_runtime_us).
inline constexpr PartsPerBillion shared_limit = 950'000'000;

struct CoreState {
  os::CoreInfo info{};
  CoreUse use = CoreUse::common;
  ReservationId owner{};       // of a core that is taken or kept idle; none: it is kept idle beside a shared core
  PartsPerBillion booked = 0;  // if shared
};

class Accounts {
 public:
  // `cores`: ascending, not empty.
  explicit Accounts(std::vector<os::CoreInfo> cores, AccountOptions options = {});

  // Applies the fact and returns what the backend must do. A fact about an unknown reservation changes nothing.
  Commands decide(const Fact& fact);

  const Account* find(ReservationId id) const;
  // Returns the granted reservations by id, then the waiting ones in queue order.
  std::vector<const Account*> all() const;
  // Returns how many reservations wait ahead of `id`, which must be waiting.
  std::size_t position(ReservationId id) const;
  std::vector<CoreState> cores() const;
  std::vector<CoreId> common() const;
  const ResourceBook& resources() const noexcept { return resources_; }
  SetName set_of(const Account& account) const;
  // Returns the reservation whose cores the service uses while it does not use the loan; no_reservation: it has none.
  ReservationId home_of(const Loan& loan) const;
  // Returns the time when the next lease ends; `never` if no lease has an end.
  Time next_end() const;

 private:
  struct SharedCore {
    std::vector<CoreId> idle{};
    bool of_threads = false;
    PartsPerBillion booked = 0;
  };

  Commands on(const Asked& fact);
  Commands on(const Renewed& fact);
  Commands on(const Released& fact);
  Commands on(const Died& fact);
  Commands on(const Failed& fact);
  Commands on(const Ticked& fact);
  Commands on(const Lent& fact);
  Commands on(const TakenBack& fact);
  Commands on(const LoanUseBegan& fact);
  Commands on(const LoanUseEnded& fact);
  Commands on(const Charged& fact);
  Commands on(const NotFreedYet& fact);
  Commands on(const Offered& fact);

  Account* find_granted(ReservationId id);
  std::optional<Refusal> fault_of(const Asked& fact) const;
  std::optional<Refusal> fault_of_holder(const Holder& holder) const;
  bool could_ever(const Account& account) const;
  Refusal no_room(const Account& account) const;
  bool place(Account& account, Commands& commands, bool may_open);
  bool has_resources(const Account& account, const std::deque<Account>& before) const;
  bool place_cores(Account& account, Commands& commands, bool may_open);
  bool place_share(Account& account, Commands& commands, bool may_open);
  std::optional<CoreId> shared_with_room(const Account& account) const;
  std::optional<CoreId> open_shared(const Account& account, Commands& commands);
  void grant(Account account, Commands& commands, Time at);
  void end(ReservationId id, Commands& commands);
  void end_granted(const Account& account, Commands& commands);
  void leave_shared(const Account& account, Commands& commands);
  void serve_queue(Time at, Commands& commands);
  void close(Account& account, const Process& service, Duration used, Commands& commands);
  void add_up_closed(Account& account) const;
  void expel(Account& account, Loan& loan, Duration used, Commands& commands);
  std::vector<CoreId> taken() const;
  std::vector<CoreId> free_cores() const;

  const std::vector<os::CoreInfo> machine_;
  const std::vector<CoreId> all_;
  const AccountOptions options_;
  const std::vector<CoreId> kept_;

  std::map<ReservationId, Account> granted_;
  std::deque<Account> queue_;
  std::map<CoreId, SharedCore> shared_;
  ResourceBook resources_;
  std::vector<CoreId> held_;  // still held by the kernel: in no set, and not yet available
  std::uint64_t next_id_;
};

// Returns the part of a core that the share needs, rounded up.
PartsPerBillion parts_of(const ShareWanted& share) noexcept;

}  // namespace corelane::reserved
