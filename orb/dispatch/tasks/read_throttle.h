// ReadThrottle limits how much a task's thread may read without getting a job from it. The thread reads at the task's
// priority, and the analysis assumes that it uses one budget C in each period T. So bytes that become no job, and jobs
// that the contract does not allow, are read from what the task's jobs leave of C: C minus the longest job so far. When
// that is used up, reading pauses for as long as it takes at that rate, at least a period. Meanwhile, what the client
// sends stays in its socket. The pause also makes up for a read that took too long.
//
//   reserve     the longest job so far that kept its budget, without the pieces of its request; C / 2 before the first.
//               A job beyond its budget does not count: on a virtual machine a gap of the host may be the cause
//   allowance   C - reserve, and at least C / 16, since the thread has to find out what the bytes are
//
// Pieces of a long request belong to the job that they become, and count in its budget. Until that job is there, they
// may use the allowance, or C / 2 if that is more. Without that limit, a request without an end would be read forever.
//
// So if jobs take no longer than those before them, jobs and useless reading together use C in each T. They exceed it
// by one read at most, and by C / 16 if the jobs leave nothing. Reading that follows other reading within a period is
// charged to the same account, so it does not matter where periods begin.
//
// Threads: the task's own. No clock.
#pragma once

#include <algorithm>

#include "orb/base/contract.h"
#include "orb/base/time.h"

namespace corelane::dispatch {

class ReadThrottle {
 public:
  explicit ReadThrottle(const Contract& contract)
      : period_(contract.period), budget_(contract.budget), reserve_(contract.budget / 2) {}

  // Charges a read that gave no job that the core scheduler took. `used`: what the thread used since its last job or
  // such read.
  void wasted(Time now, Duration used) noexcept {
    if (now >= last_ + period_) wasted_ = {};
    last_ = now;
    wasted_ += used - std::min(used, paused_for_);
    pieces_ = paused_for_ = {};
    shut_if_over(now, wasted_, allowance());
  }

  // Charges a read that gave a piece of a request. `used`: what the thread used since its last job or wasted read.
  void piece(Time now, Duration used) noexcept {
    pieces_ = used;
    if (now >= last_ + period_) wasted_ = {};
    if (shut_if_over(now, wasted_ + pieces_ - paused_for_, std::max(allowance(), budget_ / 2))) paused_for_ = pieces_;
  }

  // Notes that a job has ended that used `used`, with the pieces of its request.
  void ran(Duration used) noexcept {
    const Duration alone = used - std::min(used, pieces_);
    pieces_ = paused_for_ = {};
    if (alone > budget_) return;
    reserve_ = any_job_ ? std::max(reserve_, alone) : alone;
    any_job_ = true;
  }

  // Returns the time before which nothing is to be read.
  Time opens_at() const noexcept { return shut_until_; }

 private:
  Duration allowance() const noexcept { return std::max(budget_ - reserve_, budget_ / 16); }

  bool shut_if_over(Time now, Duration used, Duration limit) noexcept {
    if (used <= limit) return false;
    const double periods = static_cast<double>(used.count()) / static_cast<double>(limit.count() + 1);
    const double pause = periods * static_cast<double>(period_.count());
    shut_until_ = now + std::max(period_, Duration{static_cast<Duration::rep>(pause)});
    wasted_ = {};
    return true;
  }

  // Constant.
  const Duration period_, budget_;

  Duration reserve_;
  bool any_job_ = false;
  Time last_{};            // of the latest wasted read
  Duration wasted_{};      // since the last pause that took a period
  Duration pieces_{};      // used for pieces of the request that is being read
  Duration paused_for_{};  // the part of pieces_ for which reading has paused already
  Time shut_until_{};
};

}  // namespace corelane::dispatch
