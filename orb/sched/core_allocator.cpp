#include "orb/sched/core_allocator.h"

#include <algorithm>

namespace corelane::sched {
namespace {

Share load_of(const Contract& contract) noexcept { return share_of(contract.budget.count(), contract.period.count()); }

}  // namespace

CoreAllocator::CoreAllocator(const AllocationStrategy& strategy, std::size_t cores)
    : strategy_(strategy), loads_(cores) {}

std::size_t CoreAllocator::core_for(const Contract& contract) const noexcept {
  const Share most = whole_share - load_of(contract);
  SpareCapacity best{.core = -1};
  for (std::size_t i = 0; i < loads_.size(); ++i) {
    if (loads_[i] > most) continue;
    const SpareCapacity spare{
        .core = static_cast<int>(i),
        .free = whole_share - loads_[i],
        .steps = steps_between(static_cast<int>(last_), static_cast<int>(i), static_cast<int>(loads_.size()))};
    if (best.core < 0 || comes_before(strategy_, spare, best)) best = spare;
  }
  if (best.core >= 0) return static_cast<std::size_t>(best.core);
  return static_cast<std::size_t>(std::ranges::min_element(loads_) - loads_.begin());
}

void CoreAllocator::add(std::size_t core, const Contract& contract) noexcept {
  loads_[core] += load_of(contract);
  last_ = core;
}

void CoreAllocator::remove(std::size_t core, const Contract& contract) noexcept { loads_[core] -= load_of(contract); }

}  // namespace corelane::sched
