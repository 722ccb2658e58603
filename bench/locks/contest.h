// contest() lets threads take one lock again and again, and measures how often they get it and what that costs.
// Thread: the caller starts the threads and waits for them.
#pragma once

#include <sys/resource.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace bench_locks {

struct Contest {
  int threads = 1;
  int section = 50;   // steps of work in a critical section, each of about a nanosecond
  int outside = 500;  // the same between two sections
  std::chrono::duration<double> time{0.2};
};

struct ContestResult {
  double sections_per_second = 0;
  double cpu_ns_per_section = 0;  // CPU time of all threads, in user space and kernel
};

// Works for so many steps on `value`. The compiler cannot leave any out.
inline void work(std::uint64_t& value, int steps) noexcept {
  for (int i = 0; i < steps; ++i) {
    value = value * 6364136223846793005U + 1442695040888963407U;
    asm volatile("" : "+r"(value));
  }
}

inline double cpu_seconds() noexcept {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

template <typename Lock>
ContestResult contest(Lock& lock, const Contest& setting) {
  std::atomic<bool> over{false};
  std::uint64_t shared = 1;  // the lock guards it
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(setting.threads));
  std::barrier begin(setting.threads + 1);
  std::vector<std::jthread> threads;
  for (std::uint64_t& count : counts)
    threads.emplace_back([&lock, &setting, &over, &shared, &begin, &count] {
      std::uint64_t own = 1, sections = 0;
      begin.arrive_and_wait();
      while (!over.load(std::memory_order_relaxed)) {  // relaxed: nothing else depends on it
        lock.lock();
        work(shared, setting.section);
        lock.unlock();
        ++sections;
        work(own, setting.outside);
      }
      count = sections;
    });
  begin.arrive_and_wait();
  const double cpu = cpu_seconds();
  const auto start = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(setting.time);
  over.store(true, std::memory_order_relaxed);  // relaxed: as above
  threads.clear();                              // joins them
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::uint64_t sections = 0;
  for (const std::uint64_t count : counts) sections += count;
  const auto total = static_cast<double>(sections);
  return {.sections_per_second = total / took.count(), .cpu_ns_per_section = 1e9 * (cpu_seconds() - cpu) / total};
}

}  // namespace bench_locks
