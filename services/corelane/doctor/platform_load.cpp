#include "services/corelane/doctor/platform_load.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "orb/os/clock.h"
#include "orb/os/machine/topology.h"
#include "orb/os/thread.h"
#include "orb/rt/work.h"
#include "services/corelane/output/text.h"

namespace corelane::tool {
namespace {

constexpr int level = 49;  // as the manager has: above tasks, below interrupt threads
constexpr int wakes = 200;
constexpr Duration between = std::chrono::milliseconds{1}, busy = std::chrono::milliseconds{100};

void measure_wakes(CoreLoad& load) {
  std::vector<Duration> late;
  late.reserve(wakes);
  for (int i = 0; i < wakes; ++i) {
    const Time due = os::now() + between;
    os::sleep_until(due);
    late.push_back(os::now() - due);
  }
  std::ranges::sort(late);
  load.wake_p50 = late[wakes / 2];
  load.wake_p99 = late[wakes * 99 / 100];
  load.wake_max = late.back();
}

void measure_gaps(CoreLoad& load) {
  const rt::WorkReport report = rt::work(busy);
  if (report.elapsed > Duration::zero())
    load.taken = static_cast<double>(report.external.count()) / static_cast<double>(report.elapsed.count());
  load.longest_taken = report.longest_external;
}

CoreLoad measure_core(CoreId core) {
  CoreLoad load{.core = core};
  auto thread = os::start_thread({.name = "corelane-doctor", .core = core, .fifo_priority = level}, [&load] {
    measure_wakes(load);
    measure_gaps(load);
  });
  if (!thread) return load;
  load.real_time = thread->real_time();
  thread->join();
  return load;
}

// Rounds up to whole microseconds.
Duration microseconds_above(double nanoseconds) {
  return std::chrono::microseconds{static_cast<std::int64_t>(std::ceil(nanoseconds / 1000))};
}

}  // namespace

std::vector<CoreLoad> measure_platform() {
  std::vector<CoreLoad> loads;
  const auto topology = os::Topology::detect();
  if (!topology) return loads;
  rt::calibrate();
  for (const os::CoreInfo& info : topology->cores()) loads.push_back(measure_core(info.core));
  return loads;
}

PlatformSettings suggest(const std::vector<CoreLoad>& loads) {
  constexpr double readers_and_manager = 20'000;  // ns in each millisecond: the default of platform.budget
  PlatformSettings settings;
  double taken = 0;
  for (const CoreLoad& load : loads) {
    settings.blocking = std::max(settings.blocking, microseconds_above(static_cast<double>(load.wake_p99.count())));
    taken = std::max(taken, load.taken);
  }
  settings.budget =
      microseconds_above(readers_and_manager + std::min(taken, 0.5) * static_cast<double>(settings.period.count()));
  return settings;
}

std::vector<std::string> signs_of_busy_host(const std::vector<CoreLoad>& loads, std::optional<double> average) {
  constexpr double busy_part = 0.25;                           // of all cores, by the load average
  constexpr double much_taken = 0.01;                          // of one core
  constexpr Duration long_gap = std::chrono::milliseconds{1};  // at one time
  std::vector<std::string> signs;
  const auto cores = static_cast<double>(std::max<std::size_t>(loads.size(), 1));
  if (average && *average >= busy_part * cores)
    signs.push_back(format("the load average before was %.2f on %zu %s", *average, loads.size(),
                           loads.size() == 1 ? "core" : "cores"));
  for (const CoreLoad& load : loads)
    if (load.taken >= much_taken || load.longest_taken >= long_gap)
      signs.push_back(format("gaps took %.2f %% of core %d, %s at once", 100 * load.taken, load.core.value,
                             brief(load.longest_taken).c_str()));
  return signs;
}

std::optional<double> load_average() {
  double average = 0;
  return ::getloadavg(&average, 1) == 1 ? std::optional(average) : std::nullopt;
}

}  // namespace corelane::tool
