// The quota of CPU time that a control group gives a process: cpu.max of version 2, cpu.cfs_quota_us of version 1.
// Threads: any but real-time ones: files are read.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace corelane::os {

// The whole cores that a quota is worth, at least 1. Nothing: the text sets no quota.
//   cpu.max: "max 100000", or "150000 100000": microseconds of CPU time in each period
std::optional<std::size_t> cores_of_quota(std::string_view cpu_max) noexcept;

// The smallest quota of the groups of a process, from its own up to the root. `cgroups`: /proc/PID/cgroup; `mountinfo`:
// /proc/PID/mountinfo. Nothing: no group sets one, or the files cannot be read. std::bad_alloc.
std::optional<std::size_t> quota_of_groups(const std::string& cgroups, const std::string& mountinfo);

}  // namespace corelane::os
