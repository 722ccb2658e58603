// CustomSet admits tasks by CustomPolicies. What these leave out is decided by the scenario's policies: a server of one
// core is the admission test of each core.
// Threads: owned by one thread at a time. Allocates.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "orb/base/ids.h"
#include "orb/eval/planning/custom_policies.h"
#include "orb/eval/planning/idle_server.h"
#include "orb/eval/planning/whole_set.h"

namespace corelane::eval {

class CustomSet final : public WholeSet {
 public:
  // `policies` and `server` must outlive it.
  CustomSet(const CustomPolicies& policies, const dispatch::ExecutiveOptions& server, std::span<const CoreId> cores);

  bool admits(const Task& task) override;
  void clear() override;
  void describe(std::size_t number, TaskVerdict& verdict) const override;
  std::vector<sched::CoreView> cores() const override;

 private:
  struct Placed {
    std::size_t core = 0;
    TaskId task = no_task;  // of the core's server; no_task: it has none
  };

  bool fits(std::size_t core, const Task& task);
  sched::Refusal refusal_of(std::optional<std::size_t> core) const;
  sched::Refusal refusal_of_test() const;
  void admit_again(std::size_t core);
  std::optional<std::size_t> first_that_fits() const;

  const CustomPolicies& policies_;
  const dispatch::ExecutiveOptions& server_;
  std::vector<CandidateCore> cores_{};
  std::vector<std::unique_ptr<IdleServer>> servers_{};  // by core; empty if policies_ have a test
  std::vector<Placed> placed_{};                        // by number
};

}  // namespace corelane::eval
