// SplitSet admits tasks to cores that run the earliest deadline first. A task goes to the first core on which all
// deadlines hold. If there is none, it is cut into parts for several cores (orb/sched/analysis/splitting.h).
//
// Threads: owned by one thread at a time. Allocates.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "orb/eval/planning/whole_set.h"
#include "orb/sched/analysis/splitting.h"
#include "orb/sched/share.h"

namespace corelane::eval {

class SplitSet final : public WholeSet {
 public:
  explicit SplitSet(std::span<const CoreId> cores);

  bool admits(const Task& task) override;
  void clear() override;
  void describe(std::size_t number, TaskVerdict& verdict) const override;
  std::vector<sched::CoreView> cores() const override;

 private:
  struct Core {
    CoreId id{};
    std::vector<sched::EdfTask> tasks{};
    sched::Share load = 0;
  };
  struct Part {
    std::size_t core = 0;   // index of cores_
    std::size_t index = 0;  // of Core::tasks
    sched::Ticks offset = 0;
  };
  struct Admitted {
    Contract contract{};
    std::vector<Part> parts{};
  };
  std::vector<sched::SplitPart> parts_of(const sched::EdfTask& task) const;

  std::vector<Core> cores_;
  std::vector<Admitted> admitted_;
};

}  // namespace corelane::eval
