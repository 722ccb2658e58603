// Keeper: the accounts and the backend together: asks the ones, has the other do it, and gives back what cannot be
// done. It knows processes by their identity and looks whether they live.
//
// Threads: any. Each function takes the keeper's lock, and holds it while the host is changed.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "services/reserved/accounts/accounts.h"
#include "services/reserved/backends/backend.h"
#include "services/reserved/backends/controller.h"
#include "services/reserved/backends/interrupts.h"

namespace corelane::reserved {

struct GrantView {
  ReservationId id{};
  bool waiting = false;
  std::size_t position = 0;
  Place place{};
  Guarantee guarantee = Guarantee::exclusive_cores;
  Duration lease_left{};  // zero: without end
  Remarks remarks{};
};

struct KeeperStatus {
  BackendReport backend{};
  StartReport started{};
  InterruptReport interrupts{};
};

class Keeper {
 public:
  struct Parts {
    Accounts accounts;
    Backend& backend;
    ProcessTable& processes;
    Interrupts& interrupts;
    std::function<Time()> now;
    std::function<Done<void>(const Process&)> watch{};              // call ended() when it ends
    std::function<void(const std::vector<Process>&)> watch_only{};  // of those watched, the others are not needed
    std::function<void()> hurry{};                                  // call tick() soon
    // Cores that are switched on; nothing where that cannot be told.
    std::function<std::optional<std::vector<CoreId>>()> online{};
  };
  explicit Keeper(Parts parts) : parts_(std::move(parts)) {}

  // Once, before all others: the default set. The text of a fault says how to mend it.
  Done<void> start();
  // Gives everything back. What else is to be put back, restore() does.
  void stop();

  Expected<GrantView, Refusal> reserve(Holder holder, const Wanted& wanted, const Terms& terms,
                                       const std::vector<ResourceWanted>& also = {});
  Expected<GrantView, Refusal> look(ReservationId id);
  // What the process runs on, of its own or of a tree that it is in; nothing for a thread's share, and for a guest.
  // Without `looks_anew` a tree has it when one of its parents was seen there, about a second ago at most: that takes
  // no pass over all processes.
  std::optional<Account> holding(const Process& process, bool looks_anew = true) const;
  bool renew(ReservationId id, Duration lease);  // false: it has ended
  void release(ReservationId id);
  Expected<void, Refusal> lend(ReservationId id, const Process& service);
  void take_back(ReservationId id, const Process& service);
  Expected<GrantView, Refusal> work_on(ReservationId id, const Process& service);
  void leave(ReservationId id, const Process& service);
  void charge(ReservationId id, const Process& client, Duration used);

  // The process has ended.
  void ended(const Process& process);
  // About once a second: leases, trees without processes that ended unseen, threads that came in sideways. Whether
  // something waits that is better done soon.
  bool tick();

  std::optional<Account> find(ReservationId id) const;
  std::vector<Account> accounts() const;  // loans with the visits under way
  std::vector<CoreState> cores() const;
  struct ResourceState {
    ResourceOffer offer;
    std::uint64_t promised;  // also what the kernel has not taken back yet from reservations that ended
  };
  std::vector<ResourceState> resources() const;
  KeeperStatus status() const;
  Time now() const { return parts_.now(); }

 private:
  struct Failure {
    ReservationId id;
    std::string why;
  };
  // A service that works on a client's cores, and its CPU time.
  struct Visit {
    Process service{};
    Duration at_first{};  // when it came
    Duration latest{};    // as looked at now and then: the end may be seen after the kernel has forgotten it
  };
  // What it told; failures are given back within.
  struct Outcome {
    std::optional<ReservationId> granted, queued;
    std::optional<Refusal> refused;
    std::string join_fault;  // empty: none
  };

  Outcome tell(const Fact& fact);
  void decide(const Fact& fact, Outcome& outcome);
  void carry_out(const Command& command, Outcome& outcome);
  Held held() const;
  void settle();
  Done<void> act(const Command& command, Outcome& outcome);
  Done<void> enter(const Enter& command);
  Done<void> join(const Join& command);
  Expected<GrantView, Refusal> view(ReservationId id) const;
  Duration used_since(const Process& service) const;
  bool is_visiting(const Process& service) const;
  void fail(ReservationId id, const std::string& why);
  void remember_end(ReservationId id, const std::string& why);
  Expected<void, Refusal> watch(const Process& process);
  void watch_needed();
  void watch_heir(const Account& account, const std::vector<int>& living);
  void forget_ended();
  void watch_cores();
  void watch_interrupts();
  const Account* nearest(const Process& process) const;
  bool has_visitor(ReservationId id) const;
  bool is_elsewhere(const Account& account) const;

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  Parts parts_;
  Resources resources_{};
  StartReport started_{};
  std::vector<Failure> failures_{};             // of the facts under way
  std::map<ReservationId, Remarks> remarks_{};  // of those granted
  struct Ended {
    ReservationId id{};
    std::string why{};
  };
  std::deque<Ended> why_ended_{};           // of the last ones that ended, and not by release
  std::map<std::int32_t, Visit> visits_{};  // under way, by pid of the service
  Time interrupts_looked_at_{};
  std::vector<CoreId> switched_off_{};  // as last looked at
  bool is_balanced_ = false;            // irqbalance runs, and interrupts are to be steered
  std::vector<Process> heirs_{};        // one of each tree whose first process has ended; watched
};

}  // namespace corelane::reserved
