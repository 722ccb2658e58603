// SplitSet admits tasks to cores that run the earliest deadline first, and cuts those that fit on no core.
// Threads: owned by one thread at a time. Allocates.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "orb/eval/planning/whole_set.h"
#include "orb/sched/analysis/split_placement.h"

namespace corelane::eval {

class SplitSet final : public WholeSet {
 public:
  explicit SplitSet(std::span<const CoreId> cores);

  bool admits(const Task& task) override;
  void clear() override;
  void describe(std::size_t number, TaskVerdict& verdict) const override;
  std::vector<sched::CoreView> cores() const override;

 private:
  std::vector<CoreId> cores_;
  sched::SplitPlacement placement_;
};

}  // namespace corelane::eval
