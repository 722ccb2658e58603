// Newcomers: those who ask for admission, from when they are looked at until they are told. One at a time is analysed
// in slices, and then decided inside a transaction of the PromiseKeeper: what other processes promised is read, the
// decision made, the new promise written. When the transaction is taken, the newcomers wait and jobs go on. An analysis
// that takes more than one slice goes on outside the transaction, and starts over when the others promised something
// else meanwhile. Those who have not been looked at, and those who wait until tasks have been moved for somebody else,
// are in the AdmissionQueue.
//
// Threads: any that holds the manager's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "orb/base/error.h"
#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/dispatch/admission_queue.h"
#include "orb/dispatch/back_off.h"
#include "orb/dispatch/newcomer.h"
#include "orb/dispatch/node_list.h"
#include "orb/dispatch/promise_keeper.h"
#include "orb/dispatch/recent.h"
#include "orb/dispatch/recorded_lane.h"
#include "orb/dispatch/refusal_log.h"
#include "orb/sched/commands.h"
#include "orb/sched/refusal.h"

namespace corelane::dispatch {

class Newcomers {
 public:
  static constexpr std::size_t most_refused = 1024;  // that wait for what would have fitted instead
  static constexpr int slice = 32;                   // evaluations, see Manager::continue_preparing()
  static constexpr Duration reorganizing_period = std::chrono::milliseconds{1};
  static constexpr Duration patience = std::chrono::seconds{3};  // then the newcomer is told to try again
  static constexpr Duration explain_within = std::chrono::milliseconds{50};

  // `spin`: what a task's thread may use after each job, on top of its budget. Each refusal goes to `log`, too.
  Newcomers(RecordedManager& manager, PromiseKeeper& promises, AdmissionQueue& queue, Duration spin, RefusalLog& log)
      : manager_(manager), promises_(promises), queue_(queue), log_(log), spin_(spin) {}

  // Whether another one may be taken up: nobody is being analysed or decided.
  bool takes_next() const noexcept { return first_ == nullptr; }
  // The newcomer is the first one from here on, or is told why not.
  void propose(NewcomerPtr newcomer, Time now) noexcept;
  // A slice of the first newcomer's analysis; or, when that has ended, the decision about it: `commands` is then what
  // the Manager wants done. Whether anything was done.
  bool step(Time now, std::span<const sched::Command>& commands) noexcept;
  // Whether the first newcomer's analysis has begun and takes more than its first slice.
  bool is_under_way() const noexcept { return first_ && first_->request == preparing_; }
  // A slice of what would have fitted instead of a refused contract. Whether anything was done.
  bool explain(Time now) noexcept;
  bool has_refusals() const noexcept { return !explaining_.empty(); }
  // Sends the first refusal, without what would have fitted, if `explain_within` has passed since the newcomer was
  // looked at. Refusals go out in their order. Whether one did.
  bool tell_late(Time now) noexcept;
  Time tell_by() const noexcept { return explaining_.empty() ? never : explaining_.front()->since + explain_within; }
  // When step() has something to do: a time that has passed means at once.
  Time wake_at() const noexcept { return first_ ? retry_.at() : never; }

  // The newcomer that an Admit is about; null when it is gone.
  NewcomerPtr take(JobId request) noexcept;
  // The Manager's answer to one of them; false: to none.
  bool refused(const sched::Refuse& refuse, Time now) noexcept;

  // The peer is gone: its newcomers are told so, those who are taken up later too.
  void drop(PeerId peer) noexcept;
  void fail_all(Error error) noexcept;
  std::uint64_t refusals() const noexcept { return refusals_; }

 private:
  static constexpr std::size_t remembered_peers = 256;

  void prepare_first() noexcept;
  void decide_first(Time now, std::span<const sched::Command>& commands) noexcept;
  void try_again(NewcomerPtr newcomer, Error error, Time now) noexcept;
  void fail_first(Error error) noexcept;
  void turn_away(NewcomerPtr newcomer, const sched::Refusal& refusal) noexcept;
  void end_explaining() noexcept;

  RecordedManager& manager_;
  PromiseKeeper& promises_;
  AdmissionQueue& queue_;
  RefusalLog& log_;
  const Duration spin_;
  NewcomerPtr first_;                            // not told to the Manager: is being prepared, or has to try again
  NodeList<Newcomer> deciding_;                  // told, not answered: one, and one that waits until others have moved
  NodeList<Newcomer> explaining_;                // refused; what would fit is still to be computed
  Recent<PeerId> lost_peers_{remembered_peers};  // for what their connections may still ask for
  JobId preparing_{};                            // request of the newcomer whose analysis is under way
  JobId asking_{};                               // request of the newcomer for which a contract that fits is searched
  BackOff retry_{PromiseKeeper::retry_period, PromiseKeeper::longest_retry};
  Time kept_since_ = never;  // transactions are refused since then
  std::uint64_t refusals_ = 0;
};

}  // namespace corelane::dispatch
