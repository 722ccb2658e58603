// Tests that threads start where and as requested, or report why not.
#include "orb/os/thread.h"

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>

#include "orb/base/minor.h"
#include "orb/os/clock.h"
#include "orb/os/machine/topology.h"
#include "orb/os/privileges.h"
#include "orb/os/threads/core_isolation.h"
#include "orb/os/threads/scheduling_class.h"
#include "orb/os/wait/wait.h"

using namespace corelane;
using namespace corelane::os;

namespace {

Thread started(ThreadOptions options, UniqueFunction<void()> function) {
  auto thread = start_thread(std::move(options), std::move(function));
  REQUIRE(thread);
  return std::move(*thread);
}

// Runs `probe` on a thread with these options and returns what it saw.
template <typename Probe>
auto seen_on(ThreadOptions options, Probe probe) {
  decltype(probe()) result{};
  started(std::move(options), [&] { result = probe(); }).join();
  return result;
}

SchedulingClass class_of_this_thread() { return scheduling_class_of(0).value(); }

bool can_fifo() {
  if (privileges().fifo) return true;
  std::cout << "SKIPPED: no privilege for SCHED_FIFO\n";
  return false;
}

}  // namespace

TEST_CASE("a thread runs its function once and ends with it") {
  std::atomic<int> runs{0};
  started({}, [&] { ++runs; }).join();
  CHECK(runs == 1);
}

TEST_CASE("a function with move-only content runs and dies on the thread") {
  auto content = std::make_unique<int>(7);
  int seen = 0;
  started({}, [&seen, c = std::move(content)] { seen = *c; }).join();
  CHECK(seen == 7);
}

TEST_CASE("a thread bears its name cut to what the kernel keeps") {
  const auto name = seen_on({.name = "corelane-with-a-long-name"}, [] {
    char text[32] = "";
    pthread_getname_np(pthread_self(), text, sizeof text);
    return std::string(text);
  });
  CHECK(name == "corelane-with-a");
}

TEST_CASE("a thread has the timer slack that it asks for, and otherwise that of its starter") {
  const auto slack = [] { return prctl(PR_GET_TIMERSLACK); };
  CHECK(seen_on({.timer_slack = std::chrono::microseconds{3}}, slack) == 3000);
  CHECK(seen_on({}, slack) == slack());
}

TEST_CASE("a thread that asks for a core runs there and nowhere else") {
  const auto topology = Topology::detect();
  for (const CoreInfo& core : topology->cores()) {
    const auto allowed = seen_on({.core = core.core}, [] {
      cpu_set_t mask;
      pthread_getaffinity_np(pthread_self(), sizeof mask, &mask);
      return std::pair{CPU_COUNT(&mask), current_core()};
    });
    CHECK(allowed.first == 1);
    CHECK(allowed.second == core.core);
  }
}

TEST_CASE("a thread started by a bound one is not bound itself") {
  const auto cores = Topology::detect()->cores();
  const int outer = seen_on({.core = cores.front().core}, [] {
    return seen_on({}, [] {
      cpu_set_t mask;
      pthread_getaffinity_np(pthread_self(), sizeof mask, &mask);
      return CPU_COUNT(&mask);
    });
  });
  CHECK(outer == static_cast<int>(cores.size()));
}

TEST_CASE("a kept core is left by all threads but those that are bound to it, until it is given back") {
  const auto affinity = [] {
    CpuMask mask;
    sched_getaffinity(0, CpuMask::native_size, mask.native());
    return mask;
  };
  const CpuMask before = affinity();
  if (before.is_empty() || before.only()) {
    std::cout << "SKIPPED: needs two cores\n";
    return;
  }
  CoreId core{0};
  while (!before.contains(core)) ++core.value;  // bound: CpuMask::limit
  {
    CoreIsolation kept(core);
    const CoreIsolation same(std::move(kept));
    CHECK_FALSE(affinity().contains(core));
    CHECK_FALSE(seen_on({}, affinity).contains(core));
    CHECK(seen_on({.core = core}, affinity).only() == core);
  }
  CHECK(affinity() == before);
  CHECK(seen_on({}, affinity) == before);
}

TEST_CASE("a thread gets the SCHED_FIFO level it asks for") {
  if (!can_fifo()) return;
  SchedulingClass seen;
  Thread thread = started({.fifo_priority = 7}, [&] { seen = class_of_this_thread(); });
  CHECK(thread.real_time());
  thread.join();
  CHECK(seen.policy == std::uint32_t{SCHED_FIFO});
  CHECK(seen.priority == 7U);
}

TEST_CASE("a thread started by a real-time one is not real-time itself") {
  if (!can_fifo()) return;
  const auto inner = seen_on({.fifo_priority = 7}, [] { return seen_on({}, class_of_this_thread); });
  CHECK(inner.policy == std::uint32_t{SCHED_OTHER});
}

TEST_CASE("the class of a running thread can be changed and taken back") {
  if (!can_fifo()) return;
  Parker end;
  Thread thread = started({}, [&] { end.park(never); });
  REQUIRE(thread.set_priority(5));
  CHECK(thread.real_time());
  CHECK(sched_getscheduler(thread.tid()) == (SCHED_FIFO | SCHED_RESET_ON_FORK));
  REQUIRE(set_priority(thread, 0));
  CHECK_FALSE(thread.real_time());
  CHECK(sched_getscheduler(thread.tid()) == SCHED_OTHER);
  end.unpark();
}

TEST_CASE("a thread's execution time can be read by another thread") {
  std::atomic<bool> worked{false};
  Parker end;
  Thread thread = started({}, [&] {
    while (thread_cpu_time() < std::chrono::milliseconds{2}) spin_pause();
    worked = true;
    worked.notify_one();
    end.park(never);
  });
  worked.wait(false);
  CHECK(thread.cpu_time() >= std::chrono::milliseconds{2});
  end.unpark();
}

TEST_CASE("a thread may use its whole stack") {
  const int touched = seen_on({.stack = 256 * 1024}, [] {
    volatile char frame[192 * 1024];
    for (std::size_t i = 0; i < sizeof frame; i += 4096) frame[i] = 1;
    return static_cast<int>(frame[0]);
  });
  CHECK(touched == 1);
}

TEST_CASE("a thread is not cancelled") {
  std::atomic<bool> went_on{false};
  Thread thread = started({}, [&] {
    pthread_cancel(pthread_self());
    pthread_testcancel();
    went_on = true;
  });
  thread.join();
  CHECK(went_on);
}

TEST_CASE("a cancellation that is delayed comes when the last delay is over") {
  struct Steps {
    bool within = false, behind = false;
  } steps;
  pthread_t thread{};
  const auto body = [](void* at) -> void* {
    {
      const CancellationDelay outer;
      { const CancellationDelay inner; }
      pthread_cancel(pthread_self());
      pthread_testcancel();
      static_cast<Steps*>(at)->within = true;
    }
    pthread_testcancel();
    static_cast<Steps*>(at)->behind = true;
    return nullptr;
  };
  REQUIRE(pthread_create(&thread, nullptr, body, &steps) == 0);
  void* result = nullptr;
  pthread_join(thread, &result);
  CHECK(result == PTHREAD_CANCELED);
  CHECK(steps.within);
  CHECK_FALSE(steps.behind);
}

// Edges.

TEST_CASE("a handle without a thread joins at once and has no class") {
  Thread none;
  none.join();
  CHECK_FALSE(none.joinable());
  CHECK_FALSE(none.real_time());
  CHECK(none.cpu_time() == Duration::zero());
  CHECK_FALSE(none.set_priority(0));
}

TEST_CASE("assigning to a handle joins the thread it held") {
  std::atomic<bool> ended{false};
  Thread thread = started({}, [&] { ended = true; });
  thread = Thread();
  CHECK(ended);
}

// Error paths.

TEST_CASE("a core that does not exist is refused") {
  const auto core = GENERATE(CoreId{8191}, CoreId{-1}, CoreId{32767});
  const auto thread = start_thread({.core = core}, [] {});
  REQUIRE_FALSE(thread);
  CHECK(thread.error().kind == ErrorKind::bad_param);
  CHECK(thread.error().minor == minor::core_unusable);
}

TEST_CASE("a stack that no machine has is refused") {
  const auto thread = start_thread({.stack = std::size_t{1} << 46}, [] {});
  REQUIRE_FALSE(thread);
  CHECK(thread.error().minor == minor::no_thread);
}

TEST_CASE("a level outside SCHED_FIFO leaves the thread without real time") {
  Thread thread = started({.fifo_priority = 1000}, [] {});
  CHECK_FALSE(thread.real_time());
  CHECK_FALSE(thread.set_priority(1000));
}
