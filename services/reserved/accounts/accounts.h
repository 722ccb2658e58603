// Accounts: who owns which core of the host, who waits, who lends to whom. A state machine: facts in, commands out.
// What is commanded is for a Backend (backends/backend.h) to do, in order; where it cannot the fact Failed gives all
// back.
//
// Whole cores are taken out of the default set. Shares (a budget in every period) are packed onto cores of their own,
// which are taken out of the default set likewise: best fit, while the sum of budget / period stays at or below
// `shared_limit`. Threads (SCHED_DEADLINE) and process trees (control groups) never share a core with each other, since
// the one goes before the other.
//
// Memory, cache and disk (resource_book.h) are had beside cores or not at all.
//
// Who waits is served with the fact Held, which comes after each other one: what has been given back may be held by the
// kernel still. He is served in order. Nobody who needs a core overtakes him; a share that fits on a core that is
// shared already takes nothing from him, unless it wants of a resource that he waits for.
//
// Threads: one at a time. Pure: no clock, no I/O.
// Invariant: each core is in the default set, or in one set, or kept idle for one set.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "orb/base/expected.h"
#include "orb/os/topology.h"
#include "services/reserved/accounts/facts.h"

namespace corelane::reserved {

struct AccountLimits {
  std::size_t reservations = 1024;  // with those that wait
  std::size_t of_user = 64;
  std::size_t loans = 16;    // of a reservation; of those that are over what is beyond is added up
  std::size_t charges = 64;  // of a reservation; what is beyond is charged together
  std::size_t note = 200;    // bytes
};

struct AccountOptions {
  std::vector<CoreId> kept{};  // in the default set, never given away; ascending. Empty: the first physical core
  ReservationId first_id{1};
  bool enforces = true;  // false: others keep out by their affinity alone
  AccountLimits limits{};
};

enum class CoreUse : std::uint8_t { common, taken, kept_idle, shared, withheld, held };

// Parts of a core, exact: a millionth of a millionth would still fit.
using PartsPerBillion = std::int64_t;
inline constexpr PartsPerBillion whole_core = 1'000'000'000;
// The kernel leaves 5 % to others (kernel.sched_rt_runtime_us).
inline constexpr PartsPerBillion shared_limit = 950'000'000;

struct CoreState {
  os::CoreInfo info{};
  CoreUse use = CoreUse::common;
  ReservationId owner{};       // of taken; of kept_idle, where it is one's
  PartsPerBillion booked = 0;  // of shared
};

class Accounts {
 public:
  // `cores`: ascending, not empty.
  explicit Accounts(std::vector<os::CoreInfo> cores, AccountOptions options = {});

  // A fact about a reservation that is not there changes nothing.
  Commands decide(const Fact& fact);

  const Account* find(ReservationId id) const;
  // Granted ones by id, then those that wait, in order.
  std::vector<const Account*> all() const;
  std::size_t position(ReservationId id) const;  // of one that waits: how many are before it
  std::vector<CoreState> cores() const;
  std::vector<CoreId> common() const;
  const ResourceBook& resources() const noexcept { return resources_; }
  SetName set_of(const Account& account) const;
  // Whose cores the service of a loan that is in use runs on otherwise; none: nobody's.
  ReservationId home_of(const Loan& loan) const;
  // When the next lease ends.
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
  Commands on(const CameIn& fact);
  Commands on(const Left& fact);
  Commands on(const Charged& fact);
  Commands on(const Held& fact);
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
  std::vector<CoreId> held_;  // in no set, and for none yet
  std::uint64_t next_id_;
};

// What of a share of one core it is.
PartsPerBillion parts_of(const ShareWanted& share) noexcept;

}  // namespace corelane::reserved
