#include "orb/sched/concurrency_control.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "tests/support/law.h"

using namespace corelane;
using namespace corelane::sched;
using namespace corelane::testing;
using namespace std::chrono_literals;

namespace concurrency_control_test {
namespace {

constexpr Duration length = 10ms;
constexpr int threads = 64;

// Servants that end in a second while so many run.
using Curve = std::function<double(int)>;

// A lock whose hand-over takes longer the more servants wait. 7 servants do most.
double lock_bound(int servants) { return 50'000 * servants / (1 + 0.02 * servants * servants); }
// Servants that compute, on four cores.
double cpu_bound(int servants) { return 20'000.0 * std::min(servants, 4); }
// Servants that wait for a disk, each by itself.
double waiting(int servants) { return 1'000.0 * servants; }

int best_of(const Curve& curve, int clients) {
  int best = 1;
  for (int n = 2; n <= clients; ++n)
    if (curve(n) > curve(best)) best = n;
  return best;
}

// A server in virtual time. Its clients call again as soon as they have their reply.
class Load {
 public:
  Load(Curve curve, int clients, double noise = 0, std::uint64_t seed = 1)
      : curve_(std::move(curve)), clients_(clients), noise_(noise), random_(seed) {}

  void run(int windows) {
    for (int i = 0; i < windows; ++i) {
      const int now = std::min(control.limit(), clients_);
      // Servants that began under the limit before still run for a part of the window.
      const double rate = (0.9 * curve_(now) + 0.1 * curve_(before_)) * (1 + noise_ * (2 * random() - 1));
      before_ = now;
      rest_ += rate * std::chrono::duration<double>(length).count();
      const double ended = std::floor(rest_);
      rest_ -= ended;
      all_ += ended;
      control.take({.length = length,
                    .in_servants = length * now,
                    .ended = static_cast<std::uint64_t>(ended),
                    .full = control.limit() < clients_ ? length : Duration::zero()});
    }
    windows_ += windows;
  }
  // Returns the servants that ended in a second since the last call.
  double rate() {
    const double seconds = std::chrono::duration<double>(length).count() * windows_;
    windows_ = 0;
    return std::exchange(all_, 0) / seconds;
  }
  void change(Curve curve, int clients) {
    curve_ = std::move(curve);
    clients_ = clients;
  }

  ConcurrencyControl control{threads};

 private:
  double random() {
    random_ = random_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<double>(random_ >> 11U) * 0x1p-53;
  }

  Curve curve_;
  int clients_;
  double noise_;
  std::uint64_t random_;
  int before_ = 1, windows_ = 0;
  double rest_ = 0, all_ = 0;
};

// A server in virtual time whose servants last for many windows, and begin at different times. Its clients call again
// as soon as they have their reply.
class LongServants {
 public:
  LongServants(Curve curve, int clients) : curve_(std::move(curve)), clients_(clients) {}

  void run(int windows) {
    for (int i = 0; i < windows; ++i) {
      ServantWindow window{};
      for (Duration at{}; at < length; at += step) window.add(run_step());
      control.take(window);
    }
  }

  ConcurrencyControl control{threads};

 private:
  static constexpr Duration step = 1ms;

  ServantWindow run_step() {
    const auto limit = static_cast<std::size_t>(std::min(control.limit(), clients_));
    while (done_.size() < limit) done_.push_back(0);
    const int running = static_cast<int>(done_.size());
    // The part of its work that each servant does in this step.
    const double part = curve_(running) / running * std::chrono::duration<double>(step).count();
    for (double& each : done_) each += part;
    const std::size_t ended = std::erase_if(done_, [](double each) { return each >= 1 - 1e-9; });
    return {.length = step,
            .in_servants = step * running,
            .ended = ended,
            .full = running < clients_ ? step : Duration::zero()};
  }

  Curve curve_;
  int clients_;
  std::vector<double> done_;  // of each servant that runs, the part of its work
};

// A spin lock: one servant does most, and from 2 to 64 there is hardly a difference.
double spin_bound(int servants) { return servants == 1 ? 5'000 : 500 - servants; }

}  // namespace

TEST_CASE("the control begins with as many servants as there are threads") {
  CHECK(ConcurrencyControl(8).limit() == 8);
  CHECK(ConcurrencyControl(1).limit() == 1);
}

TEST_CASE("servants that wait for a lock are bounded to the best number within seconds") {
  const int clients = GENERATE(8, 16, 64);
  Load load(lock_bound, clients);
  load.run(400);  // 4 s
  CAPTURE(clients, load.control.decided());
  CHECK(lock_bound(std::min(load.control.decided(), clients)) >= 0.95 * lock_bound(best_of(lock_bound, clients)));
}

TEST_CASE("the trials cost less than a twentieth of the best throughput in the long run") {
  Load load(lock_bound, 32);
  load.run(1'000);
  (void)load.rate();
  load.run(10'000);
  CHECK(load.rate() >= 0.95 * lock_bound(7));
}

TEST_CASE("servants without contention keep their threads, and lose nothing by trials") {
  const bool computes = GENERATE(true, false);
  const Curve curve = computes ? Curve(cpu_bound) : Curve(waiting);
  Load load(curve, 32);
  load.run(1'000);
  CHECK(load.control.decided() == threads);
  (void)load.rate();
  load.run(10'000);
  CHECK(load.rate() >= 0.97 * curve(32));
}

TEST_CASE("trials cost servants that compute hardly anything, from the first second on") {
  const double noise = GENERATE(0.0, 0.15);
  const int cores = GENERATE(2, 16);
  const Curve curve = [cores](int servants) { return 1'000.0 * std::min(servants, cores); };
  Load load(curve, 16, noise);
  load.run(200);  // 2 s
  CAPTURE(noise, cores);
  CHECK(load.rate() >= 0.96 * curve(16));
  load.run(800);
  CHECK(load.rate() >= 0.98 * curve(16));
}

TEST_CASE("noise does not move the limit") {
  const auto seed = GENERATE(as<std::uint64_t>{}, 1, 2, 3, 4, 5);
  Load load(cpu_bound, 32, 0.3, seed);
  load.run(5'000);
  (void)load.rate();
  load.run(5'000);
  CAPTURE(seed, load.control.decided());
  CHECK(load.rate() >= 0.93 * cpu_bound(32));
}

TEST_CASE("the best number is found in spite of noise") {
  const auto seed = GENERATE(as<std::uint64_t>{}, 1, 2, 3, 4, 5);
  Load load(lock_bound, 64, 0.15, seed);
  load.run(2'000);
  (void)load.rate();
  load.run(5'000);
  CAPTURE(seed, load.control.decided());
  CHECK(load.rate() >= 0.9 * lock_bound(7));
}

TEST_CASE("the limit rises again when the load no longer waits for a lock") {
  Load load(lock_bound, 64);
  load.run(1'000);
  REQUIRE(load.control.decided() <= 10);
  load.change(waiting, 64);
  load.run(3'000);
  CHECK(load.control.decided() >= 50);
}

TEST_CASE("servants that last for many windows are compared fairly") {
  SECTION("those that do not wait for each other keep their threads") {
    LongServants load([](int servants) { return 1'000.0 / 40 * servants; }, GENERATE(8, 64));  // each lasts 40 ms
    load.run(5'000);
    CHECK(load.control.decided() == threads);
  }
  SECTION("the best number is found beyond numbers that make no difference") {
    LongServants load(spin_bound, GENERATE(16, 64));
    load.run(3'000);  // 30 s
    CHECK(load.control.decided() == 1);
  }
}

TEST_CASE("a single servant at a time is not bounded") {
  Load load(lock_bound, 1);
  load.run(1'000);
  CHECK(load.control.decided() == threads);
}

TEST_CASE("windows without servants change nothing") {
  ConcurrencyControl control(8);
  for (int i = 0; i < 1'000; ++i) {
    control.take({.length = length});
    REQUIRE(control.limit() == 8);
  }
}

TEST_CASE("the limit is given up if no servant ends, because servants may wait for requests behind it") {
  Load load(lock_bound, 64);
  load.run(1'000);
  const int limit = load.control.limit();
  REQUIRE(limit < threads);
  const ServantWindow stalled{.length = length, .in_servants = limit * length, .full = length};
  for (int i = 1; i < ConcurrencyControl::shortest_stall / length; ++i) load.control.take(stalled);
  CHECK(load.control.limit() == limit);
  load.control.take(stalled);
  CHECK(load.control.limit() == threads);
  SECTION("and is never as low again") {
    for (int i = 0; i < 3'000; ++i) {
      load.run(1);
      REQUIRE(load.control.limit() > limit);
    }
  }
}

TEST_CASE("the limit is not given up before four times as long as servants last") {
  ConcurrencyControl control(threads);
  // One of 64 servants ends in each window, so each lasts 640 ms.
  const ServantWindow usual{.length = length, .in_servants = threads * length, .ended = 1};
  for (int i = 0; i < 1'000 && control.limit() == threads; ++i) control.take(usual);
  const int limit = control.limit();
  REQUIRE(limit < threads);  // a trial
  const ServantWindow stalled{.length = length, .in_servants = limit * length, .full = length};
  for (int i = 1; i < 4 * threads; ++i) control.take(stalled);
  CHECK(control.limit() == limit);
  control.take(stalled);
  CHECK(control.limit() == threads);
}

TEST_CASE("short servants wait for seconds, not for minutes, behind a limit that long ones have reached") {
  ConcurrencyControl control(threads);
  // One short servant ends in a second, beside long ones. So the mean is more than a minute.
  for (int i = 0; i < 1'000 && control.limit() == threads; ++i)
    control.take({.length = length, .in_servants = threads * length, .ended = i % 100 == 99 ? 1U : 0U});
  const int limit = control.limit();
  REQUIRE(limit < threads);
  const ServantWindow stalled{.length = length, .in_servants = threads * length, .full = length};
  for (int i = 1; i < ConcurrencyControl::longest_stall / length; ++i) control.take(stalled);
  CHECK(control.limit() == limit);
  control.take(stalled);
  CHECK(control.limit() == threads);
}

TEST_CASE("a disturbed sample of one servant does not keep the control from the best number forever") {
  // Whatever is tried first seems to do much worse.
  Load load([](int servants) { return servants < 32 ? 2'000.0 : lock_bound(32); }, 32);
  while (load.control.limit() != 1) load.run(1);
  while (load.control.limit() == 1) load.run(1);
  load.change(lock_bound, 32);
  load.run(10'000);
  CHECK(load.control.decided() >= 6);
  CHECK(load.control.decided() <= 9);
}

TEST_CASE("the limit is from 1 to the number of threads whatever is measured") {
  CHECK(holds([](Draw& draw) {
    const int most = 1 + static_cast<int>(draw.below(100));
    ConcurrencyControl control(most);
    for (int i = 0; i < 300; ++i) {
      const bool is_full = draw.flag();
      control.take({.length = length,
                    .in_servants = length * static_cast<int>(draw.below(100)),
                    .ended = draw.below(1'000),
                    .full = is_full ? length : Duration::zero()});
      expect(control.limit() >= 1 && control.limit() <= most, "a trial is within the bounds");
      expect(control.decided() >= 1 && control.decided() <= most, "a decision is within the bounds");
    }
  }));
}

TEST_CASE("on every curve with one peak the control reaches nine tenths of it") {
  CHECK(holds([](Draw& draw) {
    const double overhead = 0.3 / static_cast<double>(1 + draw.below(1'000));
    const int clients = 2 + static_cast<int>(draw.below(62));
    const Curve curve = [overhead](int n) { return 50'000 * n / (1 + overhead * n * n); };
    Load load(curve, clients);
    load.run(1'000);
    const int n = std::min(load.control.decided(), clients);
    expect(curve(n) >= 0.9 * curve(best_of(curve, clients)), "the peak is nearly reached");
  }));
}

}  // namespace concurrency_control_test
