// VirtualResources are the resources that the jobs of the Simulator lock: their ceilings, and the jobs that hold them.
//
// Threads: as Simulator. Allocates at any time.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "orb/base/ids.h"

namespace corelane::sim {

class VirtualResources {
 public:
  // The job locks the resource. Returns the ceiling, which is the job's priority from now on.
  Priority lock(ResourceId resource, JobId job);
  void unlock(ResourceId resource);
  // The job has ended. It may have been stopped inside its section.
  void end_job(ResourceId resource, JobId job);
  // Sets the ceiling, and the core of the tasks that use the resource. Returns the job that holds it, if there is one.
  std::optional<JobId> set_ceiling(ResourceId resource, Priority ceiling, CoreId core);
  // The core is lost, and its jobs with it.
  void lose_core(CoreId core);

  // Returns how many jobs found their resource locked.
  std::uint64_t collisions() const { return collisions_; }

 private:
  struct State {
    Priority ceiling = best_effort;
    CoreId core = no_core;
    std::optional<JobId> holder{};
  };

  std::unordered_map<std::uint32_t, State> states_;  // by id
  std::uint64_t collisions_ = 0;
};

}  // namespace corelane::sim
