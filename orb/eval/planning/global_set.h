// GlobalSet admits tasks to cores that are scheduled together, by an admission test for all cores.
// Threads: owned by one thread at a time. Allocates.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "orb/eval/planning/whole_set.h"
#include "orb/sched/share.h"

namespace corelane::eval {

class GlobalSet final : public WholeSet {
 public:
  GlobalSet(const sched::AdmissionTest& test, std::span<const CoreId> cores);

  bool admits(const Task& task) override;
  void clear() override;
  void describe(std::size_t number, TaskVerdict& verdict) const override;
  std::vector<sched::CoreView> cores() const override;

 private:
  const sched::AdmissionTest& test_;
  std::vector<CoreId> cores_;
  std::vector<sched::SporadicTask> tasks_;  // in descending order of priority: the shorter deadline first
  std::vector<std::size_t> numbers_;        // their numbers, in the same order
  std::vector<sched::Ticks> responses_;     // in the same order
  std::vector<Duration> jitters_;           // by number
  sched::Share load_ = 0;
};

}  // namespace corelane::eval
