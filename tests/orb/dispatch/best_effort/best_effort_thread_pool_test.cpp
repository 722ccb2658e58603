// Tests the end of threads of a best-effort thread pool.
#include "orb/dispatch/best_effort/best_effort_thread_pool.h"

#include <sched.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <thread>

#include "orb/dispatch/current.h"

namespace best_effort_thread_pool_test {
namespace {

using namespace corelane;
using namespace corelane::dispatch;

struct AtThreadEnd {
  ~AtThreadEnd() {
    if (run) run();
  }
  std::function<void()> run;
};

// The first thread runs `lead` once. The others work until they are surplus, and run `at_end` when they end.
struct Work final : ThreadPoolWork {
  void take_jobs(BestEffortThreadPool& pool) noexcept override {
    if (!has_lead.exchange(true)) {
      lead();
      while (!pool.dismissed()) std::this_thread::yield();
      return;
    }
    thread_local AtThreadEnd of_thread;
    of_thread.run = at_end;
    ++entered;
    while (!pool.leave_if_surplus() && !pool.dismissed()) std::this_thread::yield();
    ++left;
  }
  bool has_unserved() const noexcept override { return true; }

  std::function<void()> lead, at_end;
  std::atomic<bool> has_lead{false};
  std::atomic<int> entered{0}, left{0};
};

}  // namespace

TEST_CASE("a spare thread that ends slowly does not hold up the thread pool") {
  Work work;
  BestEffortThreadPool pool(work, {.running = 1, .waiting = 8, .linger = Duration::zero()},
                            CoreId{static_cast<std::int16_t>(sched_getcpu())});
  std::atomic<bool> over{false};
  work.lead = [&] {
    for (int round = 1; round <= 20; ++round) {
      {
        const SuspensionScope waits;  // calls a spare thread, which makes the next one
        while (work.entered < round) std::this_thread::yield();
      }
      while (work.left < round) std::this_thread::yield();
      while (pool.threads() > 2) std::this_thread::yield();  // one of the two spare threads ends
    }
    over = true;
  };
  // Needs the thread pool's mutex, until the next thread was made.
  work.at_end = [&] {
    while (!over && pool.threads() < 3) pool.rebind();
  };
  REQUIRE(pool.start());
  while (!over) std::this_thread::yield();
  pool.dismiss();
  pool.join();
  CHECK(work.left == 20);
}

}  // namespace best_effort_thread_pool_test
