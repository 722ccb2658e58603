// DecisionStages are the stages of the manager's decisions, each with the times of many samples. The published figures
// are for `total`.
//
//   queue   from the driver, which stands for the reader, to the manager
//   decide  analysis, commands, and the promise written into a ledger for other servers
//   move    until all tasks that have to move have moved
//   thread  until the new task has its thread, and the thread has the job
//   wake    to the first instruction of the servant; for a refusal: until it is ready, with its alternative
//   total   from when the manager takes the request. For a job of an admitted task: from when the driver puts it into
//           the queue.
//
// Threads: values.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "orb/base/time.h"
#include "services/corelane/real_run/overheads/decision_pool.h"

namespace corelane::tool {

// The times that one stage took.
class StageTimes {
 public:
  // Adds a sample. An interval that ends before it begins counts as zero.
  void add(Time from, Time to);

  bool empty() const noexcept { return times_.empty(); }
  std::size_t count() const noexcept { return times_.size(); }
  // There must be a sample. A quantile is the smallest sample such that at least `percent` of the samples do not exceed
  // it. 0 gives the shortest sample, 100 the longest one.
  Duration quantile(int percent) const;
  double mean() const;  // in us

 private:
  std::vector<Duration> times_;
};

struct DecisionStages {
  StageTimes queue{}, decide{}, move{}, thread{}, wake{}, total{};

  void add(const DecisionStamps& stamps);
  // Returns all stages but the total, in their order.
  std::array<const StageTimes*, 5> parts() const { return {&queue, &decide, &move, &thread, &wake}; }
};

}  // namespace corelane::tool
