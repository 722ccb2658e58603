#include "orb/rt/work.h"

#include <sys/resource.h>

#include <algorithm>
#include <utility>

#include "orb/os/clock.h"
#include "orb/os/thread.h"

namespace corelane::rt {
namespace {

// Takes about a microsecond, by arithmetic that no compiler removes.
void iterate() noexcept {
  std::uint64_t x = 88172645463325252ULL;
  for (int i = 0; i < 400; ++i) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
  }
  asm volatile("" : : "r"(x));
}

long involuntary_switches() noexcept {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

// Takes the shortest of many runs as the undisturbed one, because disturbances only add time.
std::uint64_t measure() noexcept {
  constexpr int samples = 400;
  constexpr std::int64_t iterations = 100;
  Duration best = Duration::max();
  for (int sample = 0; sample < samples; ++sample) {
    const Time start = os::now();
    for (std::int64_t i = 0; i < iterations; ++i) {
      iterate();
      (void)os::now();
    }
    best = std::min(best, os::now() - start);
  }
  const std::int64_t count = iterations * 1'000'000 / std::max<std::int64_t>(best.count(), 1);
  return static_cast<std::uint64_t>(std::max<std::int64_t>(count, 1));
}

// Watch collects the gaps of one call of work().
class Watch {
 public:
  explicit Watch(GapLog* log) noexcept
      : log_(log), switches_(involuntary_switches()), off_core_(off_core()), last_(os::now()), start_(last_) {}

  void look() noexcept {
    const Time now = os::now();
    if (now - last_ <= shortest_gap) [[likely]] {
      last_ = now;
      return;
    }
    note(now);
    last_ = os::now();  // time spent on recording excuses nothing
  }

  WorkReport report(std::uint64_t iterations) noexcept {
    report_.iterations = iterations;
    report_.elapsed = last_ - start_;
    return report_;
  }

 private:
  void note(Time now) noexcept {
    const Duration length = now - last_;
    const std::uint32_t switches = new_switches();
    const Duration others = switches == 0 ? Duration::zero() : preempted(length);
    const Duration external = length - others;
    report_.preempted += others;
    report_.external += external;
    report_.longest_external = std::max(report_.longest_external, external);
    if (switches == 0) {
      ++report_.unswitched_gaps;
      report_.longest_unswitched = std::max(report_.longest_unswitched, length);
    }
    const CoreId core = os::current_core();
    record({.begin = last_, .length = external, .core = core, .cause = GapCause::machine, .switches = switches});
    record({.begin = last_ + external,
            .length = others,
            .core = core,
            .cause = GapCause::preempted,
            .switches = switches});
  }

  // Returns how often the thread was switched out since the last call.
  std::uint32_t new_switches() noexcept {
    const long before = std::exchange(switches_, involuntary_switches());
    return static_cast<std::uint32_t>(switches_ - before);
  }

  Duration preempted(Duration length) noexcept {
    const Duration before = std::exchange(off_core_, off_core());
    return preempted_part(length, off_core_ - before);
  }

  // Returns how long the thread has been off its core so far, from an arbitrary origin.
  static Duration off_core() noexcept {
    const Duration used = os::thread_cpu_time();
    return os::now().time_since_epoch() - used;
  }

  void record(const Gap& gap) noexcept {
    if (log_ != nullptr && gap.length > Duration::zero()) log_->record(gap);
  }

  GapLog* const log_;
  long switches_;
  Duration off_core_;
  Time last_;
  const Time start_;
  WorkReport report_;
};

}  // namespace

std::uint64_t iterations_per_millisecond() noexcept {
  static const std::uint64_t rate = measure();
  return rate;
}

WorkReport work(Duration demand, GapLog* log) noexcept {
  const auto microseconds = static_cast<std::uint64_t>(std::max<std::int64_t>(demand.count() / 1000, 0));
  const std::uint64_t iterations = microseconds * iterations_per_millisecond() / 1000;
  Watch watch(log);
  for (std::uint64_t i = 0; i < iterations; ++i) {  // bound: the demand
    iterate();
    watch.look();
  }
  return watch.report(iterations);
}

}  // namespace corelane::rt
