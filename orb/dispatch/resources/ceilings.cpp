#include "orb/dispatch/resources/ceilings.h"

namespace corelane::dispatch {

CeilingsOfTask Ceilings::of(const Contract& contract) {
  std::erase_if(entries_, [](const auto& each) { return each.second.is_unused(); });
  CeilingsOfTask result;
  for (std::size_t i = 0; i < max_uses; ++i)
    if (contract.uses[i].resource != no_resource) result[i] = entries_[contract.uses[i].resource].ceiling;
  return result;
}

void Ceilings::set(ResourceId resource, CoreId core, int native) noexcept {
  const auto found = entries_.find(resource);
  if (found == entries_.end()) return;  // no task uses it
  Entry& entry = found->second;
  if (native == 0 && entry.core != core) return;
  entry.core = native == 0 ? no_core : core;
  // relaxed: a thread that locks it meanwhile uses the previous level until ThreadPlacer::refresh_ceilings(), which
  // takes a lock
  entry.ceiling->native.store(native, std::memory_order_relaxed);
}

}  // namespace corelane::dispatch
