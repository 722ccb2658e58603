// A library to preload into a program (LD_PRELOAD). Each time the program reads the date, it jumps by ten years, back
// or forth. Monotonic clocks are unchanged. Threads: any.
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

namespace {

constexpr time_t ten_years = 10L * 365 * 24 * 3600;

std::atomic<unsigned> looks{0};

// relaxed: only the number counts
time_t jump() noexcept { return looks.fetch_add(1, std::memory_order_relaxed) % 2 == 0 ? ten_years : -ten_years; }

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* at) noexcept {
  const long done = syscall(SYS_clock_gettime, clock, at);
  const bool is_date = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
  if (done == 0 && is_date) at->tv_sec += jump();
  return static_cast<int>(done);
}

int gettimeofday(timeval* at, void*) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  *at = {.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
  return 0;
}

time_t time(time_t* at) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (at != nullptr) *at = now.tv_sec;
  return now.tv_sec;
}

}  // extern "C"
