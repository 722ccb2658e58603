#include "orb/sched/admission/core_rooms.h"

#include <algorithm>

namespace corelane::sched {

CoreRooms::CoreRooms(const Placement& placement) : placement_(placement) {
  std::vector<int> caches;
  for (const Core& core : placement.cores()) {
    const auto found = std::find(caches.begin(), caches.end(), core.options.cache);
    cache_of_.push_back(static_cast<std::size_t>(found - caches.begin()));
    if (found == caches.end()) caches.push_back(core.options.cache);
  }
  cache_loads_.resize(caches.size());
  core_loads_.resize(placement.cores().size());
  rooms_.resize(placement.cores().size());
}

void CoreRooms::note(const Demand& demand) noexcept {
  const auto cores = placement_.cores();
  for (std::size_t i = 0; i < rooms_.size(); ++i) note(i, cores[i].task_set, placement_.last_placed());
  add_caches(demand);
}

void CoreRooms::note(const Demand& demand, std::span<const CoreTaskSet> task_sets, int last_placed) noexcept {
  for (std::size_t i = 0; i < rooms_.size(); ++i) note(i, task_sets[i], last_placed);
  add_caches(demand);
}

void CoreRooms::note(std::size_t index, const CoreTaskSet& task_set, int last_placed) noexcept {
  const Core& core = placement_.cores()[index];
  const int number = static_cast<int>(index);
  rooms_[index] = {.core = number,
                   .free = core.model.capacity - core.model.platform - task_set.load(),
                   .steps = steps_between(last_placed, number, static_cast<int>(rooms_.size()))};
  core_loads_[index] = core.lost ? 0 : task_set.intensive_load();
}

// Only intensive tasks slow each other down, so the caches do not matter for others.
void CoreRooms::add_caches(const Demand& demand) noexcept {
  if (!demand.intensive || !placement_.options().allocation->regards_caches) return;
  std::fill(cache_loads_.begin(), cache_loads_.end(), Share{0});
  for (std::size_t i = 0; i < rooms_.size(); ++i) cache_loads_[cache_of_[i]] += core_loads_[i];
  for (std::size_t i = 0; i < rooms_.size(); ++i) {
    rooms_[i].cache_load = cache_loads_[cache_of_[i]];
    rooms_[i].beside = rooms_[i].cache_load - core_loads_[i];
  }
}

bool CoreRooms::is_before(int a, int b) const noexcept {
  return comes_before(*placement_.options().allocation, room(a), room(b));
}

}  // namespace corelane::sched
