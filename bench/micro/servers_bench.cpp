// The cost of driving a server, and of firm timers compared with hard ones. Rows:
//
//   server_charge/KIND   charges part of the budget, then asks what to do next; KIND 0 sporadic, 1 deferrable, 2 io,
//                        3 constant bandwidth
//   server_turn/KIND     a whole turn: wake, two charges that use the budget up, block; the next turn a period later. A
//                        sporadic server splits and merges its chunks.
//   sporadic_full        charges a sporadic server whose queue of chunks is full
//   firm_check_idle/N    a soft check that finds nothing expired among N timers
//   firm_check_hit/N     a soft check that fires one of N timers, which is set again
//   hard_timer           a one-shot timer of the kernel: armed, expired, its thread woken (timerfd; the time includes
//                        the sleep). break_even_%: the share of soft checks that have to find an expired timer before
//                        they cost less than hard timers, firm_check_idle/64 divided by hard_timer
#include <benchmark/benchmark.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>

#include "orb/os/clock.h"
#include "orb/sched/schedulers/firm_timers.h"
#include "orb/sched/servers/server.h"

namespace {

using namespace corelane;
using namespace corelane::sched;
using namespace std::chrono_literals;

constexpr Reservation reservation{2ms, 10ms};

Server server_of(std::int64_t kind) {
  if (kind == 0) return SporadicServer(reservation);
  if (kind == 1) return DeferrableServer(reservation);
  if (kind == 3) return ConstantBandwidthServer(reservation);
  IoServer io(200'000);
  io.serve(Time{}, {10ms, Priority{5}});
  return io;
}

void server_charge(benchmark::State& state) {
  Server server = server_of(state.range(0));
  Time now{};
  wake(server, now);
  for (auto _ : state) {
    now += 10us;
    charge(server, now, 2us);
    benchmark::DoNotOptimize(available(server, now));
  }
}
BENCHMARK(server_charge)->DenseRange(0, 3);

void server_turn(benchmark::State& state) {
  Server server = server_of(state.range(0));
  Time now{};
  for (auto _ : state) {
    wake(server, now);
    charge(server, now + 500us, 500us);
    charge(server, now + 3ms, 1500us);
    benchmark::DoNotOptimize(available(server, now + 3ms));
    block(server, now + 3ms);
    now += 10ms;
  }
}
BENCHMARK(server_turn)->DenseRange(0, 3);

void sporadic_full(benchmark::State& state) {
  SporadicServer server({20ms, 100ms});
  Time now{};
  for (auto _ : state) {
    now += 5us;
    server.wake(now);
    server.charge(now + 1us, 1us);
    benchmark::DoNotOptimize(server.available(now));
  }
  state.counters["chunks"] = static_cast<double>(server.chunks().size());
}
BENCHMARK(sporadic_full);

// Makes N timers that expire a microsecond apart, beginning at one millisecond.
FirmTimers timers_of(std::size_t count) {
  FirmTimers timers(count, 50us);
  for (std::size_t i = 0; i < count; ++i) timers.add(TimerId{i}, Time{1ms + static_cast<std::int64_t>(i) * 1us});
  return timers;
}

void firm_check_idle(benchmark::State& state) {
  FirmTimers timers = timers_of(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(timers.soft_check(Time{500us}));
}
BENCHMARK(firm_check_idle)->Arg(1)->Arg(64)->Arg(4096);

void firm_check_hit(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  FirmTimers timers = timers_of(count);
  Time now{1ms};
  for (auto _ : state) {
    for (const FirmTimer& timer : timers.soft_check(now))
      timers.add(timer.id, now + static_cast<std::int64_t>(count) * 1us);
    now += 1us;
  }
}
BENCHMARK(firm_check_hit)->Arg(1)->Arg(64)->Arg(4096);

// Returns how long one call of `work` takes.
template <typename Work>
Duration timed(Work&& work) {
  const Time start = os::now();
  work();
  return os::now() - start;
}

void hard_timer(benchmark::State& state) {
  const int timer = timerfd_create(CLOCK_MONOTONIC, 0);
  FirmTimers timers = timers_of(64);
  Duration hard{};
  Duration soft{};
  for (auto _ : state) {
    hard += timed([&] {
      const itimerspec at{.it_interval = {}, .it_value = {.tv_sec = 0, .tv_nsec = 1}};
      std::uint64_t expired = 0;
      if (timerfd_settime(timer, 0, &at, nullptr) != 0 || read(timer, &expired, sizeof expired) < 0)
        state.SkipWithError("no timerfd");
    });
    soft += timed([&] {
              for (int i = 0; i < 64; ++i) benchmark::DoNotOptimize(timers.soft_check(Time{500us}));
            }) /
            64;
  }
  close(timer);
  state.counters["break_even_%"] = 100 * static_cast<double>(soft.count()) / static_cast<double>(hard.count());
}
BENCHMARK(hard_timer);

}  // namespace
