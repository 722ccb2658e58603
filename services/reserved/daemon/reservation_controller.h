// ReservationController checks a request against the Accounts, applies it through the Backend, and rolls it back if the
// Backend fails. It identifies processes by their pid and start time, and checks whether they live.
//
// Threads: any. Each function takes the controller's lock, and holds it while the host is changed.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "orb/base/thread_safety.h"
#include "orb/os/mutex.h"
#include "services/reserved/accounts/accounts.h"
#include "services/reserved/backends/backend.h"
#include "services/reserved/backends/interrupts.h"
#include "services/reserved/backends/resources/controller.h"

namespace corelane::reserved {

struct GrantView {
  ReservationId id{};
  bool waiting = false;
  std::size_t position = 0;
  Place place{};
  Guarantee guarantee = Guarantee::exclusive_cores;
  Duration lease_left{};  // zero: no end
  Remarks remarks{};
};

struct ReservationControllerStatus {
  BackendReport backend{};
  StartReport started{};
  InterruptReport interrupts{};
};

class ReservationController {
 public:
  struct Parts {
    Accounts accounts;
    Backend& backend;
    ProcessTable& processes;
    Interrupts& interrupts;
    std::function<Time()> now;
    std::function<Done<void>(const Process&)> watch{};              // makes the daemon call ended() when it ends
    std::function<void(const std::vector<Process>&)> watch_only{};  // all other processes need no watch
    std::function<void()> hurry{};                                  // makes the daemon call tick() soon
    // Returns the cores that are switched on; nothing if that is unknown.
    std::function<std::optional<std::vector<CoreId>>()> online{};
  };
  explicit ReservationController(Parts parts) : parts_(std::move(parts)) {}

  // Prepares the default set. Call it once, before all other functions. An error's text says how to fix it.
  Done<void> start();
  // Ends all reservations. restore() undoes the other changes to the host.
  void stop();

  Expected<GrantView, Refusal> reserve(Holder holder, const Wanted& wanted, const Terms& terms,
                                       const std::vector<ResourceWanted>& also = {});
  Expected<GrantView, Refusal> look(ReservationId id);
  // Returns the reservation that the process runs on: its own, or that of a tree which it is in. Returns nothing for a
  // thread's share, and for a service that works there only because of a loan. Without `looks_anew` a process counts as
  // in a tree if one of its parents was seen there, at most about a second ago. That avoids a pass over all processes.
  std::optional<Account> holding(const Process& process, bool looks_anew = true) const;
  bool renew(ReservationId id, Duration lease);  // false: the reservation has ended
  void release(ReservationId id);
  Expected<void, Refusal> lend(ReservationId id, const Process& service);
  void take_back(ReservationId id, const Process& service);
  Expected<GrantView, Refusal> work_on(ReservationId id, const Process& service);
  void leave(ReservationId id, const Process& service);
  void charge(ReservationId id, const Process& client, Duration used);

  // Tells the controller that the process has ended.
  void ended(const Process& process);
  // Call it about once a second. Ends leases that are over and trees whose end was missed, and moves threads that
  // escaped their set. Returns whether something waits that needs a tick soon.
  bool tick();

  std::optional<Account> find(ReservationId id) const;
  std::vector<Account> accounts() const;  // loans include the work that is in progress
  std::vector<CoreState> cores() const;
  struct ResourceState {
    ResourceOffer offer;
    std::uint64_t promised;  // including what the kernel has not yet taken back from reservations that ended
  };
  std::vector<ResourceState> resources() const;
  ReservationControllerStatus status() const;
  // No analysis: the clock never changes.
  Time now() const CORELANE_NO_THREAD_SAFETY_ANALYSIS { return parts_.now(); }

 private:
  struct Failure {
    ReservationId id;
    std::string why;
  };
  // A service that works on a client's cores, and its execution time.
  struct LoanUse {
    Process service{};
    Duration at_first{};  // when this work began
    Duration latest{};    // at the last tick; the kernel may forget the process before its end is noticed
  };
  // The answers to one fact. tell() has already ended the reservations that failed.
  struct Outcome {
    std::optional<ReservationId> granted, queued;
    std::optional<Refusal> refused;
    std::string join_fault;  // empty: none
  };

  Outcome tell(const Fact& fact) CORELANE_REQUIRES(mutex_);
  void decide(const Fact& fact, Outcome& outcome) CORELANE_REQUIRES(mutex_);
  void carry_out(const Command& command, Outcome& outcome) CORELANE_REQUIRES(mutex_);
  NotFreedYet not_freed_yet() const CORELANE_REQUIRES(mutex_);
  void settle() CORELANE_REQUIRES(mutex_);
  Done<void> act(const Command& command, Outcome& outcome) CORELANE_REQUIRES(mutex_);
  Done<void> enter(const Enter& command) CORELANE_REQUIRES(mutex_);
  Done<void> join(const Join& command) CORELANE_REQUIRES(mutex_);
  Expected<GrantView, Refusal> view(ReservationId id) const CORELANE_REQUIRES(mutex_);
  Duration used_since(const Process& service) const CORELANE_REQUIRES(mutex_);
  bool is_using_loan(const Process& service) const CORELANE_REQUIRES(mutex_);
  void fail(ReservationId id, const std::string& why) CORELANE_REQUIRES(mutex_);
  void remember_end(ReservationId id, const std::string& why) CORELANE_REQUIRES(mutex_);
  Expected<void, Refusal> watch(const Process& process) CORELANE_REQUIRES(mutex_);
  void watch_needed() CORELANE_REQUIRES(mutex_);
  void watch_survivor(const Account& account, const std::vector<int>& living) CORELANE_REQUIRES(mutex_);
  void forget_ended() CORELANE_REQUIRES(mutex_);
  void watch_cores() CORELANE_REQUIRES(mutex_);
  void watch_interrupts() CORELANE_REQUIRES(mutex_);
  const Account* nearest(const Process& process) const CORELANE_REQUIRES(mutex_);
  bool has_loan_user(ReservationId id) const CORELANE_REQUIRES(mutex_);
  bool is_elsewhere(const Account& account) const CORELANE_REQUIRES(mutex_);

  mutable os::Mutex mutex_;
  Parts parts_ CORELANE_GUARDED_BY(mutex_);
  Resources resources_ CORELANE_GUARDED_BY(mutex_){};
  StartReport started_ CORELANE_GUARDED_BY(mutex_){};
  std::vector<Failure> failures_ CORELANE_GUARDED_BY(mutex_){};             // not yet handled, of the current fact
  std::map<ReservationId, Remarks> remarks_ CORELANE_GUARDED_BY(mutex_){};  // of granted reservations
  struct Ended {
    ReservationId id{};
    std::string why{};
  };
  // The latest reservations that ended other than by release.
  std::deque<Ended> why_ended_ CORELANE_GUARDED_BY(mutex_){};
  std::map<std::int32_t, LoanUse> loan_uses_ CORELANE_GUARDED_BY(mutex_){};  // work in progress, by pid of the service
  Time interrupts_looked_at_ CORELANE_GUARDED_BY(mutex_){};
  std::vector<CoreId> switched_off_ CORELANE_GUARDED_BY(mutex_){};  // at the last check
  bool is_balanced_ CORELANE_GUARDED_BY(mutex_) = false;  // irqbalance runs although this daemon steers interrupts
  // One living process of each tree whose first process has ended; watched.
  std::vector<Process> survivors_ CORELANE_GUARDED_BY(mutex_){};
};

}  // namespace corelane::reserved
