#include "orb/sim/virtual_resources.h"

namespace corelane::sim {

Priority VirtualResources::lock(ResourceId resource, JobId job) {
  State& state = states_[resource.value];
  if (state.holder) ++collisions_;
  state.holder = job;
  return state.ceiling;
}

void VirtualResources::unlock(ResourceId resource) { states_[resource.value].holder.reset(); }

void VirtualResources::end_job(ResourceId resource, JobId job) {
  const auto found = states_.find(resource.value);
  if (found != states_.end() && found->second.holder == job) found->second.holder.reset();
}

std::optional<JobId> VirtualResources::set_ceiling(ResourceId resource, Priority ceiling, CoreId core) {
  State& state = states_[resource.value];
  state.ceiling = ceiling;
  state.core = core;
  return state.holder;
}

void VirtualResources::lose_core(CoreId core) {
  for (auto& [id, state] : states_)
    if (state.core == core) state.holder.reset();
}

}  // namespace corelane::sim
