// AdmissionControl handles requests for admission (AdmissionCandidate), from the first look at them until they are
// answered. It analyzes one request at a time, in slices. Then it decides inside a transaction of the LedgerClient: it
// reads what other processes promised, decides, and writes the new promise. While the transaction is taken, new tasks
// wait and jobs go on. An analysis that takes more than one slice goes on outside the transaction, and starts again if
// the others' promises changed meanwhile. The AdmissionQueue holds new tasks that were not looked at yet, and those
// that wait until tasks have been moved for another new task.
//
// Threads: any that holds the manager's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "orb/base/error.h"
#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/dispatch/admission/admission_candidate.h"
#include "orb/dispatch/admission/admission_queue.h"
#include "orb/dispatch/admission/ledger_client.h"
#include "orb/dispatch/budget_charge.h"
#include "orb/dispatch/queue/back_off.h"
#include "orb/dispatch/queue/node_list.h"
#include "orb/dispatch/recent.h"
#include "orb/dispatch/refusal_log.h"
#include "orb/dispatch/telemetry/recorded_scheduler.h"
#include "orb/sched/commands.h"
#include "orb/sched/refusal.h"

namespace corelane::dispatch {

class AdmissionControl {
 public:
  static constexpr std::size_t most_refused = 1024;  // refused ones that wait for a contract that would have fitted
  static constexpr int slice = 32;                   // evaluations, see Manager::continue_preparing()
  static constexpr Duration reorganizing_period = std::chrono::milliseconds{1};
  static constexpr Duration patience = std::chrono::seconds{3};  // then the new task is told to try again
  static constexpr Duration explain_within = std::chrono::milliseconds{50};

  // `charge`: what is added to a task's budget. `log` records each refusal.
  AdmissionControl(RecordedManager& manager, LedgerClient& promises, AdmissionQueue& queue, BudgetCharge charge,
                   RefusalLog& log)
      : manager_(manager), promises_(promises), queue_(queue), log_(log), charge_(std::move(charge)) {}

  // Returns whether another new task may be taken in: none is being analyzed or decided.
  bool takes_next() const noexcept { return first_ == nullptr; }
  // Makes the new task the first one, or tells it why not.
  void propose(AdmissionCandidatePtr candidate, Time now) noexcept;
  // Runs a slice of the first new task's analysis or, when that has ended, decides about it. `commands` is then what
  // the Manager wants done. Returns whether anything was done.
  bool step(Time now, std::span<const sched::Command>& commands) noexcept;
  // Returns whether the first new task's analysis has begun and takes more than its first slice.
  bool is_under_way() const noexcept { return first_ && first_->request == preparing_; }
  // Runs a slice of the search for a contract that would have fitted instead of a refused one. Returns whether anything
  // was done.
  bool explain(Time now) noexcept;
  bool has_refusals() const noexcept { return !explaining_.empty(); }
  // Sends the first refusal, without a contract that would have fitted, if `explain_within` has passed since the first
  // look at its new task. Refusals go out in their order. Returns whether one did.
  bool tell_late(Time now) noexcept;
  Time tell_by() const noexcept { return explaining_.empty() ? never : explaining_.front()->since + explain_within; }
  // Returns when step() has something to do: a time that has passed means at once.
  Time wake_at() const noexcept { return first_ ? retry_.at() : never; }

  // Takes out the new task that an Admit is about; null if it is gone.
  AdmissionCandidatePtr take(JobId request) noexcept;
  // Handles a refusal by the Manager. False: it is about none of the new tasks.
  bool refused(const sched::Refuse& refuse, Time now) noexcept;

  // Tells the new tasks of a lost peer that it is gone, also those that are taken in later.
  void drop(PeerId peer) noexcept;
  void fail_all(Error error) noexcept;
  std::uint64_t refusals() const noexcept { return refusals_; }
  // Returns what is added to budgets.
  const BudgetCharge& charge() const noexcept { return charge_; }

 private:
  static constexpr std::size_t remembered_peers = 256;

  void prepare_first() noexcept;
  void decide_first(Time now, std::span<const sched::Command>& commands) noexcept;
  void try_again(AdmissionCandidatePtr candidate, Error error, Time now) noexcept;
  void fail_first(Error error) noexcept;
  void turn_away(AdmissionCandidatePtr candidate, const sched::Refusal& refusal) noexcept;
  void end_explaining() noexcept;

  RecordedManager& manager_;
  LedgerClient& promises_;
  AdmissionQueue& queue_;
  RefusalLog& log_;
  const BudgetCharge charge_;
  AdmissionCandidatePtr first_;                  // the Manager was not told of it: it is being prepared, or tries again
  NodeList<AdmissionCandidate> deciding_;        // told, not answered: one, and one that waits until tasks have moved
  NodeList<AdmissionCandidate> explaining_;      // refused; the search for a contract that fits has not ended
  Recent<PeerId> lost_peers_{remembered_peers};  // their connections may still ask for tasks
  JobId preparing_{};                            // request of the new task that is being analyzed
  JobId asking_{};                               // request of the new task for which a contract that fits is searched
  BackOff retry_{LedgerClient::retry_period, LedgerClient::longest_retry};
  Time kept_since_ = never;  // transactions have been refused since then
  std::uint64_t refusals_ = 0;
};

}  // namespace corelane::dispatch
