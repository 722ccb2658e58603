// Reads the quota of CPU time that a control group gives a process: cpu.max in version 2, cpu.cfs_quota_us in version
// 1.
// Threads: any but real-time ones: it reads files.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace corelane::os {

// Returns how many whole cores the quota is worth, at least 1. Nothing: the text sets no quota.
//   cpu.max: "max 100000", or "150000 100000": microseconds of CPU time in each period
std::optional<std::size_t> cores_of_quota(std::string_view cpu_max) noexcept;

// Returns the smallest quota of the process's groups, from its own group up to the root. `cgroups` is /proc/PID/cgroup;
// `mountinfo` is /proc/PID/mountinfo. Returns nothing if no group sets a quota or the files cannot be read. Throws
// std::bad_alloc.
std::optional<std::size_t> quota_of_groups(const std::string& cgroups, const std::string& mountinfo);

}  // namespace corelane::os
