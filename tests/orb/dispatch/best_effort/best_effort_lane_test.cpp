// Tests the threads of the best-effort lane: jobs that arrive while a thread finishes another job, and jobs that wait
// for other jobs.
#include "orb/dispatch/best_effort/best_effort_lane.h"

#include <catch2/catch.hpp>
#include <functional>
#include <latch>
#include <thread>
#include <vector>

#include "orb/dispatch/current.h"
#include "tests/support/quiet.h"

using namespace corelane;
using namespace corelane::dispatch;

namespace {

// Counts down when it has run. Submits its successors in finish().
class ChainJob final : public Job {
 public:
  explicit ChainJob(std::latch& done, BestEffortLane* lane = nullptr, std::vector<ChainJob*> next = {})
      : done_(done), lane_(lane), next_(std::move(next)) {}
  void run(const JobContext&) noexcept override { ran_on = std::this_thread::get_id(); }
  void finish() noexcept override {
    for (ChainJob* job : next_) {
      JobPtr pushed(job);
      if (lane_->submit(pushed) != Pushed::done) std::abort();
    }
  }
  void refuse(const sched::Refusal&) noexcept override {}
  void fail(Error) noexcept override { done_.count_down(); }
  void recycle() noexcept override { done_.count_down(); }

  std::thread::id ran_on;

 private:
  std::latch& done_;
  BestEffortLane* const lane_;
  const std::vector<ChainJob*> next_;
};

void submit(BestEffortLane& lane, ChainJob& job) {
  JobPtr pushed(&job);
  REQUIRE(lane.submit(pushed) == Pushed::done);
}

}  // namespace

TEST_CASE("a job that comes while another finishes goes to that thread") {
  std::latch done(2);
  BestEffortLane lane(8);
  REQUIRE(lane.start({.running = 4}));
  ChainJob second(done);
  ChainJob first(done, &lane, {&second});
  submit(lane, first);
  done.wait();
  CHECK(second.ran_on == first.ran_on);
  lane.stop();
}

TEST_CASE("jobs that come while another finishes are all run") {
  const std::size_t threads = GENERATE(1u, 4u);
  constexpr std::size_t count = 100;
  std::latch done(count + 1);
  BestEffortLane lane(2 * count);
  REQUIRE(lane.start({.running = threads}));
  std::vector<std::unique_ptr<ChainJob>> jobs;
  std::vector<ChainJob*> next;
  for (std::size_t i = 0; i < count; ++i) next.push_back(jobs.emplace_back(std::make_unique<ChainJob>(done)).get());
  ChainJob first(done, &lane, next);
  submit(lane, first);
  done.wait();
  lane.stop();
  CHECK(lane.jobs() == count + 1);
}

TEST_CASE("a job left to a stepping hand is found by the next step") {
  std::latch done(2);
  BestEffortLane lane(8);
  ChainJob second(done);
  ChainJob first(done, &lane, {&second});
  submit(lane, first);
  CHECK(lane.step(Time{}));
  CHECK(lane.step(Time{}));
  CHECK_FALSE(lane.step(Time{}));
  done.wait();
}

namespace {

// Runs the given function, and counts down `over` when it is recycled.
class WaitingJob final : public Job {
 public:
  explicit WaitingJob(std::function<void()> body) : body_(std::move(body)) {}
  void run(const JobContext&) noexcept override { body_(); }
  void refuse(const sched::Refusal&) noexcept override {}
  void fail(Error) noexcept override {}
  void recycle() noexcept override { over.count_down(); }

  std::latch over{1};

 private:
  const std::function<void()> body_;
};

void submit(BestEffortLane& lane, WaitingJob& job) {
  JobPtr pushed(&job);
  REQUIRE(lane.submit(pushed) == Pushed::done);
}

// Each job submits the next one to the other lane, and waits for it.
void descend(BestEffortLane& lane, BestEffortLane& other, int depth, bool sleeps) {
  if (depth == 0) return;
  WaitingJob next([&] { descend(other, lane, depth - 1, sleeps); });
  submit(other, next);
  const SuspensionScope waits(sleeps);
  next.over.wait();
}

void let_threads_end(const BestEffortLane& lane, std::size_t down_to) {
  while (lane.threads() > down_to) std::this_thread::yield();  // bound: an idle thread ends after a millisecond
}

}  // namespace

TEST_CASE("a thread has a substitute while fewer than half of those that may wait do") {
  CHECK_FALSE(has_substitute());
  BestEffortLane lane(8);
  REQUIRE(lane.start({.running = 1, .waiting = 2}));
  bool of_first = false, of_who_waits = true, of_second = true;
  WaitingJob second([&] { of_second = has_substitute(); });
  WaitingJob first([&] {
    of_first = has_substitute();
    submit(lane, second);
    const SuspensionScope waits;
    of_who_waits = has_substitute();
    second.over.wait();
  });
  submit(lane, first);
  first.over.wait();
  CHECK(of_first);
  CHECK_FALSE(of_who_waits);
  CHECK_FALSE(of_second);
}

TEST_CASE("jobs that wait for others take no thread from them, however many wait") {
  const std::size_t threads = GENERATE(1u, 2u);
  const bool sleeps = GENERATE(true, false);
  BestEffortLane first(8), second(8);
  REQUIRE(first.start({.running = threads}));
  REQUIRE(second.start({.running = threads}));
  descend(first, second, 60, sleeps);
  CHECK(first.jobs() + second.jobs() == 60);
  CHECK(first.shortages() + second.shortages() == 0);
}

TEST_CASE("chains of jobs that wait for each other go on beside each other") {
  BestEffortLane first(64), second(64);
  REQUIRE(first.start({.running = 1}));
  REQUIRE(second.start({.running = 2}));
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i)
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round) descend(first, second, 1 + round % 20, true);
    });
  for (std::thread& caller : callers) caller.join();
}

TEST_CASE("threads that no waiting job needs any more end") {
  BestEffortLane first(8), second(8);
  REQUIRE(first.start({.running = 1, .linger = std::chrono::milliseconds{1}}));
  REQUIRE(second.start({.running = 1, .linger = std::chrono::milliseconds{1}}));
  for (int round = 0; round < 3; ++round) {
    descend(first, second, 20, true);
    let_threads_end(first, 2);
    let_threads_end(second, 2);
  }
  descend(first, second, 20, true);
}

TEST_CASE("a job that comes when more wait than are replaced has to wait, and that is counted") {
  const testing::Quiet quiet;
  BestEffortLane lane(8);
  REQUIRE(lane.start({.running = 1, .waiting = 1}));
  std::latch go(1);
  WaitingJob first([&] {
    const SuspensionScope waits;
    go.wait();
  });
  WaitingJob second([&] {
    const SuspensionScope waits;
    go.wait();
  });
  WaitingJob third([] {});
  submit(lane, first);
  submit(lane, second);
  while (lane.shortages() == 0) std::this_thread::yield();  // bound: both jobs begin to wait
  submit(lane, third);
  CHECK(lane.threads() == 2);
  go.count_down();
  for (WaitingJob* job : {&first, &second, &third}) job->over.wait();
  CHECK(lane.shortages() == 1);
}

TEST_CASE("a lane stops with its threads in waits, in the reserve and without any") {
  BestEffortLane lane(8);
  REQUIRE(lane.start({.running = 2}));
  std::latch waits(1), go(1);
  WaitingJob job([&] {
    const SuspensionScope suspended;
    waits.count_down();
    go.wait();
  });
  submit(lane, job);
  waits.wait();
  std::thread stops([&] { lane.stop(); });
  go.count_down();
  stops.join();
  CHECK(lane.threads() == 3);
  WaitingJob late([] {});
  JobPtr refused(&late);
  CHECK(lane.submit(refused) == Pushed::closed);
}
