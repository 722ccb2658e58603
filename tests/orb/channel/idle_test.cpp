// Tests how often an end wakes to check its peer while nothing comes: as often as docs/channel.md says, and not more
// often.
#include <signal.h>
#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstddef>
#include <future>
#include <latch>
#include <string>
#include <vector>

#include "tests/support/channel_pair.h"

namespace idle_test {

using namespace corelane;
using namespace corelane::channel;
using namespace corelane::testing;

namespace {

constexpr int woken_by = 42;
const auto before_handler = signal(woken_by, [](int) {});

constexpr std::chrono::milliseconds idle_for{800}, near_look{100};
constexpr std::chrono::minutes far_look{1};
constexpr long others = 2;  // sleeps that the system causes, for example for a page that another thread maps

enum class For { record, room };

struct Waiter {
  std::string name;
  Wake wake;
  For what;
};

struct Counted {
  bool timed_out = false;
  long slept = 0, looks = 0;
};

// Returns how often this thread has slept.
long times_slept() {
  rusage used{};
  getrusage(RUSAGE_THREAD, &used);
  return used.ru_nvcsw;
}

// Returns how many checks may have been due in that time, including the one at the deadline. A sleeper checks its peer
// every 100 ms. An end that waits for a record does so only the first time, and an end that is woken at an eventfd
// never. These two check once a minute.
long looks_due(const Waiter& waiter, Duration elapsed) {
  if (waiter.wake == Wake::eventfd) return 1 + elapsed / far_look;
  return waiter.what == For::record ? 2 + elapsed / far_look : 1 + elapsed / near_look;
}

bool times_out(Channel& end, For what, Duration patience) {
  const Time deadline = os::now() + patience;
  const auto result = what == For::record ? end.wait(deadline) : end.write(as_bytes("no room"), deadline);
  return !result && result.error() == Fault::timed_out;
}

// Lets all ends begin and end the count together, so that no page is mapped or unmapped meanwhile.
struct Together {
  explicit Together(std::size_t ends)
      : ready(static_cast<std::ptrdiff_t>(ends)), counted(static_cast<std::ptrdiff_t>(ends)) {}
  std::latch ready, counted;
};

Counted count(const Waiter& waiter, Together& all) {
  ChannelPair ends({.shape = {.slots = 64, .chunks = 4, .chunk_size = 4096},
                    .wake = waiter.wake,
                    .signal = woken_by,
                    .wait = {os::WaitMode::park}});
  while (waiter.what == For::room && ends.near.try_write(as_bytes("x"))) continue;
  times_out(ends.near, waiter.what, std::chrono::milliseconds{1});  // what only the first wait does happens here
  Counted counted;
  all.ready.arrive_and_wait();
  const long before = times_slept();
  const Time start = os::now();
  counted.timed_out = times_out(ends.near, waiter.what, idle_for);
  counted.looks = looks_due(waiter, os::now() - start);
  counted.slept = times_slept() - before;
  all.counted.arrive_and_wait();
  return counted;
}

}  // namespace

TEST_CASE("an end that waits without traffic gets up no more often than it has to look at its peer") {
  const std::vector<Waiter> waiters{
      {"futex, for a record", Wake::futex, For::record},     {"futex, for room", Wake::futex, For::room},
      {"eventfd, for a record", Wake::eventfd, For::record}, {"eventfd, for room", Wake::eventfd, For::room},
      {"signal, for a record", Wake::signal, For::record},   {"signal, for room", Wake::signal, For::room}};
  Together all(waiters.size());
  std::vector<std::future<Counted>> counts;
  for (const Waiter& waiter : waiters)
    counts.push_back(std::async(std::launch::async, [&] { return count(waiter, all); }));
  for (std::size_t i = 0; i < waiters.size(); ++i) {
    const Counted counted = counts[i].get();
    INFO(waiters[i].name << ": slept " << counted.slept << " times, where " << counted.looks << " looks were due");
    CHECK(counted.timed_out);
    CHECK(counted.slept > 0);
    CHECK(counted.slept <= counted.looks + others);
  }
}

}  // namespace idle_test
