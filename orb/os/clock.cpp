#include "orb/os/clock.h"

#include <pthread.h>

#include <cerrno>

namespace corelane::os {
namespace {

Duration reading_of(clockid_t clock) noexcept {
  timespec time{};
  if (clock_gettime(clock, &time) != 0) return {};  // fails only for a thread that has ended
  return std::chrono::seconds{time.tv_sec} + Duration{time.tv_nsec};
}

}  // namespace

[[gnu::hot]] Time now() noexcept { return Time{reading_of(CLOCK_MONOTONIC)}; }

Duration thread_cpu_time() noexcept { return reading_of(CLOCK_THREAD_CPUTIME_ID); }

CpuClock cpu_clock_of_this_thread() noexcept {
  CpuClock clock{};
  return pthread_getcpuclockid(pthread_self(), &clock) == 0 ? clock : CLOCK_THREAD_CPUTIME_ID;
}

Duration cpu_time(CpuClock clock) noexcept { return reading_of(clock); }

[[gnu::hot]] timespec to_timespec(Duration duration) noexcept {
  if (duration <= Duration::zero()) return {};
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(duration);
  return {.tv_sec = seconds.count(), .tv_nsec = (duration - seconds).count()};
}

void sleep_until(Time time) noexcept {
  const timespec due = to_timespec(time);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, nullptr) == EINTR) {
    // bound: the signals that arrive before `time`
  }
}

Duration left_until(Time deadline) noexcept {
  if (deadline == never) return Duration::max();
  const Duration left = deadline - now();
  return left > Duration::zero() ? left : Duration::zero();
}

Time first_share_of(Time deadline, std::size_t shares) noexcept {
  if (deadline == never) return never;
  return now() + left_until(deadline) / static_cast<Duration::rep>(shares);
}

}  // namespace corelane::os
