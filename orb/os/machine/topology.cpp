#include "orb/os/machine/topology.h"

#include <hwloc.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include "orb/base/minor.h"
#include "orb/os/log.h"
#include "orb/os/machine/core_list.h"
#include "orb/os/machine/cpu_mask.h"

namespace corelane::os {
namespace {

struct Destroyer {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Handle = std::unique_ptr<hwloc_topology, Destroyer>;

Handle make_handle() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return nullptr;
  return Handle{raw};
}

// Returns the lowest hardware thread below an object. Counts those that this process may not use, so that each process
// gets the same number.
int least_core(hwloc_obj_t object) { return hwloc_bitmap_first(object->complete_cpuset); }

hwloc_obj_t last_level_cache(hwloc_obj_t unit) {
  hwloc_obj_t found = nullptr;
  // Bound: the depth of the tree.
  for (hwloc_obj_t up = unit->parent; up != nullptr; up = up->parent)
    if (hwloc_obj_type_is_dcache(up->type)) found = up;
  return found;
}

CoreInfo describe(hwloc_topology_t topology, hwloc_obj_t unit) {
  const hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, unit);
  const hwloc_obj_t cache = last_level_cache(unit);
  const int physical = least_core(core != nullptr ? core : unit);
  const int numa = unit->nodeset != nullptr ? hwloc_bitmap_first(unit->nodeset) : 0;
  return {.core = CoreId{static_cast<std::int16_t>(unit->os_index)},
          .physical_core = physical,
          .cache = cache != nullptr ? least_core(cache) : physical,
          .numa = std::max(numa, 0)};
}

std::vector<CoreInfo> cores_of(hwloc_topology_t topology, const CpuMask* allowed) {
  std::vector<CoreInfo> cores;
  hwloc_obj_t unit = nullptr;
  while ((unit = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, unit)) != nullptr) {
    if (unit->os_index >= CpuMask::limit) continue;
    const CoreInfo info = describe(topology, unit);
    if (allowed == nullptr || allowed->contains(info.core)) cores.push_back(info);
  }
  std::ranges::sort(cores, {}, &CoreInfo::core);
  return cores;
}

}  // namespace

Expected<Topology> Topology::detect() {
  const auto failure = [](const std::string& why) {
    log::error("the topology of this machine: " + why);
    return Error{.kind = ErrorKind::initialize, .minor = minor::system_refused};
  };
  const auto unreadable = [&] {
    return failure("hwloc cannot read it" + (errno == 0 ? std::string() : ": " + std::string(std::strerror(errno))));
  };
  errno = 0;  // hwloc does not always set it
  const Handle handle = make_handle();
  if (!handle) return unreadable();
  // Cores that a control group forbids stay in the tree, so that the numbers of cores and caches do not depend on it.
  hwloc_topology_set_flags(handle.get(), HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  if (hwloc_topology_load(handle.get()) != 0) return unreadable();
  const CpuMask& mask = process_affinity();
  std::vector<CoreInfo> cores = cores_of(handle.get(), mask.is_empty() ? nullptr : &mask);
  if (cores.empty())
    return failure(
        "hwloc finds no core that this process may use; if HWLOC_XMLFILE, HWLOC_SYNTHETIC or HWLOC_FSROOT is set, "
        "unset it");
  // HWLOC_XMLFILE and similar variables make hwloc read another machine's tree.
  return Topology(std::move(cores), hwloc_topology_is_thissystem(handle.get()) != 0);
}

Expected<Topology> Topology::synthetic(std::string_view description) {
  const Error failure{.kind = ErrorKind::bad_param, .minor = minor::bad_option};
  const Handle handle = make_handle();
  if (!handle || hwloc_topology_set_synthetic(handle.get(), std::string(description).c_str()) != 0 ||
      hwloc_topology_load(handle.get()) != 0)
    return failure;
  std::vector<CoreInfo> cores = cores_of(handle.get(), nullptr);
  if (cores.empty()) return failure;
  return Topology(std::move(cores), false);
}

std::string fault_of(const std::vector<CoreId>& wanted, const std::vector<CoreInfo>& usable) {
  std::vector<CoreId> numbers;
  for (const CoreInfo& info : usable) numbers.push_back(info.core);
  for (const CoreId core : wanted)
    if (std::ranges::find(numbers, core) == numbers.end())
      return "core " + std::to_string(core.value) + " is none that this process may use (" + core_list_text(numbers) +
             ")";
  return {};
}

}  // namespace corelane::os
