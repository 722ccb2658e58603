// Topology describes the cores that this process may use, and the caches and memory that they share. Only topology.cpp
// uses hwloc.
// Threads: call detect() and synthetic() at start, not on real-time threads. The result is a constant value.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/ids.h"

namespace corelane::os {

struct CoreInfo {
  CoreId core;        // a hardware thread, with the operating system's number
  int physical_core;  // lowest CoreId of the siblings: the same in every process of the host
  int cache;          // its last-level cache: the lowest CoreId that shares it
  int numa;           // its memory node, with the operating system's number

  friend constexpr bool operator==(const CoreInfo&, const CoreInfo&) = default;
};

class Topology {
 public:
  // Returns this machine's topology, limited to the process's affinity mask. INITIALIZE system_refused if it cannot be
  // read; the log says why.
  static Expected<Topology> detect();
  // Returns a fictional machine, for tests and experiments. `description` is in hwloc's notation, such as "numa:2 l3:1
  // core:4 pu:2". BAD_PARAM if it is not valid. Its cores do not exist: a thread cannot be bound to them.
  static Expected<Topology> synthetic(std::string_view description);

  // Ascending by CoreId; never empty.
  const std::vector<CoreInfo>& cores() const noexcept { return cores_; }
  bool is_this_system() const noexcept { return is_this_system_; }

 private:
  Topology(std::vector<CoreInfo> cores, bool is_this_system)
      : cores_(std::move(cores)), is_this_system_(is_this_system) {}

  std::vector<CoreInfo> cores_;
  bool is_this_system_;
};

// Returns a text about the first core of `wanted` that is not in `usable`: "core 99 is none that this process may use
// (0-3,6)". Returns "" if all are usable.
std::string fault_of(const std::vector<CoreId>& wanted, const std::vector<CoreInfo>& usable);

}  // namespace corelane::os
