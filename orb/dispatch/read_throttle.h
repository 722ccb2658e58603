// ReadThrottle: how much a task's thread may read without getting a job from it. The thread reads at the task's
// priority, and the analysis knows one budget C in each period T of it. So bytes that become no job (and jobs that the
// contract does not allow) are read from what the task's jobs leave of that budget: C less the longest that one of them
// has taken so far. When that is used up nothing is read until as much time has passed as such reading takes at that
// rate, a period at least: what the client sends stays in its socket. What one read takes too much is paid so, too.
//
//   reserve     the longest job so far that kept its budget, without the pieces of its request; half of C before the
//               first. A job beyond its budget says nothing: on a virtual machine it may be the host's gap
//   allowance   C - reserve, and C / 16 at least, since somebody has to find out what the bytes are
//
// Pieces of a long request belong to the job that comes of them and count in its budget. They have the allowance, or
// half of C where that is more, until it is there, since a request without an end would be read for ever.
//
// So where jobs take no longer than those before them, jobs and reading in vain together use C in each T, a read more
// at most (and C / 16 more where the jobs leave nothing). Reading that follows on other reading within a period is of
// the same account, so it does not matter where periods begin.
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

  // A read gave no job that the lane took; `used` is what the thread used since its last job or such read.
  void wasted(Time now, Duration used) noexcept {
    if (now >= last_ + period_) wasted_ = {};
    last_ = now;
    wasted_ += used - std::min(used, forgiven_);
    pieces_ = forgiven_ = {};
    shut_if_over(now, wasted_, allowance());
  }

  // A read gave a piece of a request; `used` is what the thread used since its last job or wasted read.
  void piece(Time now, Duration used) noexcept {
    pieces_ = used;
    if (now >= last_ + period_) wasted_ = {};
    if (shut_if_over(now, wasted_ + pieces_ - forgiven_, std::max(allowance(), budget_ / 2))) forgiven_ = pieces_;
  }

  // A job has ended that used so much, with the pieces of its request.
  void ran(Duration used) noexcept {
    const Duration alone = used - std::min(used, pieces_);
    pieces_ = forgiven_ = {};
    if (alone > budget_) return;
    reserve_ = any_job_ ? std::max(reserve_, alone) : alone;
    any_job_ = true;
  }

  // Nothing is to be read before then.
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
  Time last_{};          // of what was wasted
  Duration wasted_{};    // since the last pause of a period
  Duration pieces_{};    // of the request that is being read
  Duration forgiven_{};  // of them: waited for already
  Time shut_until_{};
};

}  // namespace corelane::dispatch
