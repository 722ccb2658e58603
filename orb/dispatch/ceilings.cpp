#include "orb/dispatch/ceilings.h"

namespace corelane::dispatch {

CeilingsOfTask Ceilings::of(const Contract& contract) {
  CeilingsOfTask result;
  for (std::size_t i = 0; i < max_uses; ++i)
    if (contract.uses[i].resource != no_resource) result[i] = entries_[contract.uses[i].resource].ceiling;
  return result;
}

void Ceilings::set(ResourceId resource, CoreId core, int native) {
  const auto found = entries_.find(resource);
  if (native == 0) {
    if (found == entries_.end() || found->second.core != core) return;
    found->second.ceiling->native.store(0, std::memory_order_relaxed);  // relaxed: see below
    entries_.erase(found);
    return;
  }
  Entry& entry = entries_[resource];
  entry.core = core;
  // relaxed: who locks it meanwhile has the level before, until TaskWorker::refresh_ceilings(), which has a lock
  entry.ceiling->native.store(native, std::memory_order_relaxed);
}

}  // namespace corelane::dispatch
