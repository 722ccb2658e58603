// Reads which locks of the kernel were contended, from /proc/lock_stat (CONFIG_LOCK_STAT;
// Documentation/locking/lockstat).
// Threads: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace corelane::tool {

struct LockContention {
  std::string lock{};             // the kernel's name of the class of locks, such as "&sb->s_type->i_lock_key"
  std::uint64_t contentions = 0;  // acquisitions that had to wait
  double waited_us = 0;           // all of their waiting time together
};

// Returns the classes of locks in a text of /proc/lock_stat. Ignores lines of another form.
std::vector<LockContention> contentions_in(std::string_view lock_stat);

// Returns the `most` classes that waited longest between two readings, in descending order. Classes that did not wait
// are left out.
std::vector<LockContention> longest_waits(const std::vector<LockContention>& before,
                                          const std::vector<LockContention>& after, std::size_t most);

}  // namespace corelane::tool
