// Topology: the cores that this process may use, and what they share. hwloc stays inside topology.cpp.
// Threads: detect() and synthetic() at start, not on real-time threads; the result is a constant value.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/ids.h"

namespace corelane::os {

struct CoreInfo {
  CoreId core;        // one hardware thread, numbered as the operating system does
  int physical_core;  // its core: the least CoreId of the siblings, so that every process of the host says the same
  int cache;          // its last-level cache: again the least CoreId that shares it
  int numa;           // its memory node, numbered as the operating system does

  friend constexpr bool operator==(const CoreInfo&, const CoreInfo&) = default;
};

class Topology {
 public:
  // This machine, cut to the process's affinity mask. INITIALIZE system_refused when it cannot be read; the log says
  // why.
  static Expected<Topology> detect();
  // A made-up machine in hwloc's notation, such as "numa:2 l3:1 core:4 pu:2", for tests and experiments. BAD_PARAM when
  // the text is none. Its cores exist nowhere: a thread cannot be bound to them.
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

// "core 99 is none that this process may use (0-3,6)", about the first one of `wanted` that is not among `usable`; ""
// when all are.
std::string fault_of(const std::vector<CoreId>& wanted, const std::vector<CoreInfo>& usable);

}  // namespace corelane::os
