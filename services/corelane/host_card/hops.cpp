#include "services/corelane/host_card/hops.h"

#include <sched.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "orb/os/clock.h"
#include "orb/os/wait/wait.h"

namespace corelane::tool {
namespace {

constexpr std::size_t own_lines = 128;  // two adjacent cache lines: hardware loads them in pairs

// One of two threads that wake each other.
struct HopSide {
  os::Parker woken;
  Time called{};  // when the other thread was about to wake this one
  std::vector<Duration> samples{};

  // Sleeps until the other thread calls, and notes how long that took.
  void await() {
    woken.park(never);
    samples.push_back(os::now() - called);
  }
  void call() {
    called = os::now();
    woken.unpark();
  }
};

// A word that one thread writes and the other one polls.
struct alignas(own_lines) PolledWord {
  std::atomic<int> message{0};
};

// The note that a thread leaves for the other one of its core before it yields.
struct YieldNote {
  std::atomic<int> writer{-1};
  std::atomic<Time> left{Time{}};
};

// Yields, and collects the switches after which this thread runs.
void yield_often(YieldNote& note, int self, int yields, std::vector<Duration>& samples) {
  for (int i = 0; i < yields; ++i) {
    note.writer.store(self, std::memory_order_relaxed);     // relaxed: both threads run on one core, in turn
    note.left.store(os::now(), std::memory_order_relaxed);  // relaxed: as above
    sched_yield();
    const Time now = os::now();
    if (note.writer.load(std::memory_order_relaxed) == self) continue;   // relaxed: as above
    samples.push_back(now - note.left.load(std::memory_order_relaxed));  // relaxed: as above
  }
}

}  // namespace

CostSamples hop(CoreId one, CoreId other, int hops) {
  HopSide first, second;
  std::vector<PlacedFunction> functions;
  functions.push_back({.core = other, .run = [&] {
                         for (int i = 0; i < hops; ++i) {
                           second.await();
                           first.call();
                         }
                       }});
  functions.push_back({.core = one, .run = [&] {
                         for (int i = 0; i < hops; ++i) {
                           second.call();
                           first.await();
                         }
                       }});
  if (const auto ran = run_together(std::move(functions)); !ran) return ran.error();
  first.samples.insert(first.samples.end(), second.samples.begin(), second.samples.end());
  return std::move(first.samples);
}

Expected<std::vector<ClockExchange>, NotMeasured> exchange_clocks(CoreId one, CoreId other, int messages) {
  PolledWord sent, answered;
  std::vector<ClockExchange> exchanges(static_cast<std::size_t>(messages));
  std::vector<PlacedFunction> functions;
  functions.push_back({.core = other, .run = [&] {
                         int number = 0;
                         for (ClockExchange& exchange : exchanges) {
                           ++number;
                           // PAIR clock_exchange.sent: acquire here <- release in the other thread.
                           while (sent.message.load(std::memory_order_acquire) != number) os::spin_pause();
                           exchange.answered = os::now();
                           // PAIR clock_exchange.answered: release here -> acquire in the other thread. Publishes y1.
                           answered.message.store(number, std::memory_order_release);
                         }
                       }});
  functions.push_back({.core = one, .run = [&] {
                         int number = 0;
                         for (ClockExchange& exchange : exchanges) {
                           exchange.sent = os::now();
                           // PAIR clock_exchange.sent: release here -> acquire in the other thread.
                           sent.message.store(++number, std::memory_order_release);
                           // PAIR clock_exchange.answered: acquire here <- release in the other thread.
                           while (answered.message.load(std::memory_order_acquire) != number) os::spin_pause();
                           exchange.received = os::now();
                         }
                       }});
  if (const auto ran = run_together(std::move(functions)); !ran) return ran.error();
  return exchanges;
}

CostSamples switch_context(CoreId core, int yields) {
  YieldNote note;
  std::vector<Duration> samples[2];
  std::vector<PlacedFunction> functions;
  for (int self = 0; self < 2; ++self) {
    std::vector<Duration>& own = samples[self];
    own.reserve(static_cast<std::size_t>(yields));
    functions.push_back({.core = core, .run = [&note, &own, self, yields] { yield_often(note, self, yields, own); }});
  }
  if (const auto ran = run_together(std::move(functions)); !ran) return ran.error();
  samples[0].insert(samples[0].end(), samples[1].begin(), samples[1].end());
  if (samples[0].empty()) return NotMeasured{"no yield led to the other thread"};
  return std::move(samples[0]);
}

}  // namespace corelane::tool
