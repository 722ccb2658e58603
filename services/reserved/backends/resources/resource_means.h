// Chooses how memory, cache and disk are reserved with each backend, and says what is missing if they cannot be.
// Threads: as Backend.
//
// The folder services/reserved/backends/resources reserves memory, cache and disk.
#pragma once

#include <string>

#include "services/reserved/backends/resources/controller.h"

namespace corelane::reserved {

Controllers controllers_of_v1(const Host& host);
// `root`: the group below which the backend works.
Controllers controllers_of_v2(const Host& host, const std::string& root);
Controllers controllers_without_groups(const Host& host);

// Returns why this host has no resctrl, and how to fix that. `parts_caches`: a flag of the processor (/proc/cpuinfo).
// `kernel_has_it`: /sys/fs/resctrl exists.
std::string resctrl_lack(bool parts_caches, bool kernel_has_it);

// Returns how many bytes of memory can be promised: all but `rest_percent` percent of MemTotal in /proc/meminfo; 0 if
// the text does not say.
std::uint64_t memory_to_promise(const std::string& meminfo, unsigned rest_percent);

}  // namespace corelane::reserved
