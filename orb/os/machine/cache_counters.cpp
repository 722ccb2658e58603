#include "orb/os/machine/cache_counters.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <limits>
#include <utility>

namespace corelane::os {
namespace {

constexpr std::uint64_t fewest_instructions = 1000;

// Returns a counter of the thread in user mode, in the group of `leader`; -1 leads a group of its own.
Fd open_counter(std::uint64_t event, int thread, int leader) {
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.size = sizeof attributes;
  attributes.config = event;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  attributes.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return Fd{static_cast<int>(::syscall(SYS_perf_event_open, &attributes, thread, -1, leader, PERF_FLAG_FD_CLOEXEC))};
}

// What the counters of a group have counted, in the order in which they were opened. The first one counts instructions.
using GroupCounts = std::array<std::uint64_t, 3>;

// Returns the counts of a group with so many counters. Returns nothing if the thread executed fewer than 1,000
// instructions, or if the processor did not count the group all the time.
std::optional<GroupCounts> read_group(const Fd& leader, std::uint64_t counters) {
  struct {
    std::uint64_t counters, enabled, running;
    GroupCounts values;
  } group{};
  const auto size = static_cast<ssize_t>((3 + counters) * sizeof(std::uint64_t));
  if (::read(leader.get(), &group, sizeof group) != size || group.counters != counters) return std::nullopt;
  if (group.values[0] < fewest_instructions || group.running < group.enabled) return std::nullopt;
  return group.values;
}

// Returns the count with this index per 1,000 instructions.
double rate_of(const GroupCounts& counts, std::size_t index) {
  return 1000.0 * static_cast<double>(counts[index]) / static_cast<double>(counts[0]);
}

std::string why_not(int error) {
  const std::string cause = std::string("perf_event_open: ") + std::strerror(error);
  switch (error) {
    case EACCES:
    case EPERM:
      return cause + "; set kernel.perf_event_paranoid to 2 or less, or run as the server's user";
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
      return cause + "; this machine has no such counter, as many virtual machines: measure on the hardware itself";
    case ENOSYS:
      return cause + "; this kernel has no performance events";
    default:
      return cause;
  }
}

}  // namespace

std::uint16_t intensity_of(std::uint64_t accesses, std::uint64_t instructions) noexcept {
  constexpr double most = std::numeric_limits<std::uint16_t>::max();
  const double rate = 1000.0 * static_cast<double>(accesses) / static_cast<double>(instructions);
  return static_cast<std::uint16_t>(std::min(most, rate + 0.5));
}

Expected<CacheCounters, std::string> CacheCounters::of_thread(int thread) {
  Fd instructions = open_counter(PERF_COUNT_HW_INSTRUCTIONS, thread, -1);
  if (!instructions) return Unexpected{why_not(errno)};
  Fd accesses = open_counter(PERF_COUNT_HW_CACHE_REFERENCES, thread, instructions.get());
  if (!accesses) return Unexpected{why_not(errno)};
  CacheCounters counters(std::move(instructions), std::move(accesses));
  counters.more_instructions_ = open_counter(PERF_COUNT_HW_INSTRUCTIONS, thread, -1);
  if (!counters.more_instructions_) return counters;
  const int leader = counters.more_instructions_.get();
  counters.misses_ = open_counter(PERF_COUNT_HW_CACHE_MISSES, thread, leader);
  counters.stalls_ = open_counter(PERF_COUNT_HW_STALLED_CYCLES_BACKEND, thread, leader);
  return counters;
}

std::optional<std::uint16_t> CacheCounters::intensity() const {
  const auto counts = read_group(instructions_, 2);
  if (!counts) return std::nullopt;
  return intensity_of((*counts)[1], (*counts)[0]);
}

std::optional<CacheMetrics> CacheCounters::metrics() const {
  const auto counts = read_group(instructions_, 2);
  if (!counts) return std::nullopt;
  CacheMetrics metrics{.accesses = rate_of(*counts, 1)};
  const std::uint64_t more = (misses_ ? 1U : 0U) + (stalls_ ? 1U : 0U);
  const auto more_counts = more > 0 ? read_group(more_instructions_, 1 + more) : std::nullopt;
  if (!more_counts) return metrics;
  if (misses_) metrics.misses = rate_of(*more_counts, 1);
  if (stalls_) metrics.stalls = rate_of(*more_counts, more);
  return metrics;
}

}  // namespace corelane::os
