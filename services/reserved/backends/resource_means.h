// By what means memory, cache and disk are reserved beside each backend, and what is missing where they are not.
// Threads: as Backend.
#pragma once

#include <string>

#include "services/reserved/backends/controller.h"

namespace corelane::reserved {

Controllers controllers_of_v1(const Host& host);
// `root`: the group below which the backend works.
Controllers controllers_of_v2(const Host& host, const std::string& root);
Controllers controllers_without_groups(const Host& host);

// Why this host has no resctrl, and what mends that: by the flags of its processor (/proc/cpuinfo), and whether the
// kernel has a place for it (/sys/fs/resctrl).
std::string resctrl_lack(bool parts_caches, bool kernel_has_it);

// What may be promised of that memory: all but so many per cent. Of /proc/meminfo; 0 where it says nothing.
std::uint64_t memory_to_promise(const std::string& meminfo, unsigned rest_percent);

}  // namespace corelane::reserved
