#include "orb/os/machine/cache_counters.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
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
  const int leader = counters.instructions_.get();
  counters.misses_ = open_counter(PERF_COUNT_HW_CACHE_MISSES, thread, leader);
  counters.stalls_ = open_counter(PERF_COUNT_HW_STALLED_CYCLES_BACKEND, thread, leader);
  return counters;
}

// The kernel writes the values in the order in which the counters were opened.
std::optional<CacheCounters::Counts> CacheCounters::counts() const {
  struct {
    std::uint64_t counters, enabled, running;
    std::array<std::uint64_t, 4> values;
  } group{};
  const std::uint64_t opened = 2 + (misses_ ? 1 : 0) + (stalls_ ? 1 : 0);
  const auto size = static_cast<ssize_t>((3 + opened) * sizeof(std::uint64_t));
  if (::read(instructions_.get(), &group, sizeof group) != size || group.counters != opened) return std::nullopt;
  if (group.values[0] < fewest_instructions || group.running < group.enabled) return std::nullopt;
  Counts counts{.instructions = group.values[0], .accesses = group.values[1]};
  if (misses_) counts.misses = group.values[2];
  if (stalls_) counts.stalls = group.values[opened - 1];
  return counts;
}

std::optional<std::uint16_t> CacheCounters::intensity() const {
  const auto counted = counts();
  if (!counted) return std::nullopt;
  return intensity_of(counted->accesses, counted->instructions);
}

std::optional<CacheMetrics> CacheCounters::metrics() const {
  const auto counted = counts();
  if (!counted) return std::nullopt;
  const auto rate = [&](std::uint64_t events) {
    return 1000.0 * static_cast<double>(events) / static_cast<double>(counted->instructions);
  };
  CacheMetrics metrics{.accesses = rate(counted->accesses)};
  if (misses_) metrics.misses = rate(counted->misses);
  if (stalls_) metrics.stalls = rate(counted->stalls);
  return metrics;
}

}  // namespace corelane::os
