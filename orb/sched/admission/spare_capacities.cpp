#include "orb/sched/admission/spare_capacities.h"

#include <algorithm>

namespace corelane::sched {

SpareCapacities::SpareCapacities(const Placement& placement) : placement_(placement) {
  std::vector<int> caches;
  for (const Core& core : placement.cores()) {
    const auto found = std::find(caches.begin(), caches.end(), core.options.cache);
    cache_of_.push_back(static_cast<std::size_t>(found - caches.begin()));
    if (found == caches.end()) caches.push_back(core.options.cache);
  }
  cache_loads_.resize(caches.size());
  core_loads_.resize(placement.cores().size());
  spare_.resize(placement.cores().size());
}

void SpareCapacities::note(const Demand& demand) noexcept {
  const auto cores = placement_.cores();
  for (std::size_t i = 0; i < spare_.size(); ++i) note(i, cores[i].task_set, placement_.last_placed());
  add_caches(demand);
}

void SpareCapacities::note(const Demand& demand, std::span<const CoreTaskSet> task_sets, int last_placed) noexcept {
  for (std::size_t i = 0; i < spare_.size(); ++i) note(i, task_sets[i], last_placed);
  add_caches(demand);
}

void SpareCapacities::note(std::size_t index, const CoreTaskSet& task_set, int last_placed) noexcept {
  const Core& core = placement_.cores()[index];
  const int number = static_cast<int>(index);
  spare_[index] = {.core = number,
                   .free = core.model.capacity - core.model.platform - task_set.load(),
                   .steps = steps_between(last_placed, number, static_cast<int>(spare_.size()))};
  core_loads_[index] = core.lost ? 0 : task_set.intensive_load();
}

// Only intensive tasks slow each other down, so the caches do not matter for others.
void SpareCapacities::add_caches(const Demand& demand) noexcept {
  if (!demand.intensive || !placement_.options().allocation->regards_caches) return;
  std::fill(cache_loads_.begin(), cache_loads_.end(), Share{0});
  for (std::size_t i = 0; i < spare_.size(); ++i) cache_loads_[cache_of_[i]] += core_loads_[i];
  for (std::size_t i = 0; i < spare_.size(); ++i) {
    spare_[i].cache_load = cache_loads_[cache_of_[i]];
    spare_[i].beside = spare_[i].cache_load - core_loads_[i];
  }
}

bool SpareCapacities::is_before(int a, int b) const noexcept {
  return comes_before(*placement_.options().allocation, of(a), of(b));
}

}  // namespace corelane::sched
