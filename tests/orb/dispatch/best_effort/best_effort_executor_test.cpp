// Tests the threads of the best-effort executor: jobs that arrive while a thread finishes another job, and jobs that
// wait for other jobs.
#include "orb/dispatch/best_effort/best_effort_executor.h"

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
  explicit ChainJob(std::latch& done, BestEffortExecutor* executor = nullptr, std::vector<ChainJob*> next = {})
      : done_(done), scheduler_(executor), next_(std::move(next)) {}
  void run(const JobContext&) noexcept override { ran_on = std::this_thread::get_id(); }
  void finish() noexcept override {
    for (ChainJob* job : next_) {
      JobPtr pushed(job);
      if (scheduler_->submit(pushed) != Pushed::done) std::abort();
    }
  }
  void refuse(const sched::Refusal&) noexcept override {}
  void fail(Error) noexcept override { done_.count_down(); }
  void recycle() noexcept override { done_.count_down(); }

  std::thread::id ran_on;

 private:
  std::latch& done_;
  BestEffortExecutor* const scheduler_;
  const std::vector<ChainJob*> next_;
};

void submit(BestEffortExecutor& executor, ChainJob& job) {
  JobPtr pushed(&job);
  REQUIRE(executor.submit(pushed) == Pushed::done);
}

}  // namespace

TEST_CASE("a job that comes while another finishes goes to that thread") {
  std::latch done(2);
  BestEffortExecutor executor(8);
  REQUIRE(executor.start({.running = 4}));
  ChainJob second(done);
  ChainJob first(done, &executor, {&second});
  submit(executor, first);
  done.wait();
  CHECK(second.ran_on == first.ran_on);
  executor.stop();
}

TEST_CASE("jobs that come while another finishes are all run") {
  const std::size_t threads = GENERATE(1u, 4u);
  constexpr std::size_t count = 100;
  std::latch done(count + 1);
  BestEffortExecutor executor(2 * count);
  REQUIRE(executor.start({.running = threads}));
  std::vector<std::unique_ptr<ChainJob>> jobs;
  std::vector<ChainJob*> next;
  for (std::size_t i = 0; i < count; ++i) next.push_back(jobs.emplace_back(std::make_unique<ChainJob>(done)).get());
  ChainJob first(done, &executor, next);
  submit(executor, first);
  done.wait();
  executor.stop();
  CHECK(executor.jobs() == count + 1);
}

TEST_CASE("a job left to a stepping hand is found by the next step") {
  std::latch done(2);
  BestEffortExecutor executor(8);
  ChainJob second(done);
  ChainJob first(done, &executor, {&second});
  submit(executor, first);
  CHECK(executor.step(Time{}));
  CHECK(executor.step(Time{}));
  CHECK_FALSE(executor.step(Time{}));
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

void submit(BestEffortExecutor& executor, WaitingJob& job) {
  JobPtr pushed(&job);
  REQUIRE(executor.submit(pushed) == Pushed::done);
}

// Each job submits the next one to the other executor, and waits for it.
void descend(BestEffortExecutor& executor, BestEffortExecutor& other, int depth, bool sleeps) {
  if (depth == 0) return;
  WaitingJob next([&] { descend(other, executor, depth - 1, sleeps); });
  submit(other, next);
  const SuspensionScope waits(sleeps);
  next.over.wait();
}

void let_threads_end(const BestEffortExecutor& executor, std::size_t down_to) {
  while (executor.threads() > down_to) std::this_thread::yield();  // bound: an idle thread ends after a millisecond
}

}  // namespace

TEST_CASE("a thread has a substitute while fewer than half of those that may wait do") {
  CHECK_FALSE(has_substitute());
  BestEffortExecutor executor(8);
  REQUIRE(executor.start({.running = 1, .waiting = 2}));
  bool of_first = false, of_who_waits = true, of_second = true;
  WaitingJob second([&] { of_second = has_substitute(); });
  WaitingJob first([&] {
    of_first = has_substitute();
    submit(executor, second);
    const SuspensionScope waits;
    of_who_waits = has_substitute();
    second.over.wait();
  });
  submit(executor, first);
  first.over.wait();
  CHECK(of_first);
  CHECK_FALSE(of_who_waits);
  CHECK_FALSE(of_second);
}

TEST_CASE("jobs that wait for others take no thread from them, however many wait") {
  const std::size_t threads = GENERATE(1u, 2u);
  const bool sleeps = GENERATE(true, false);
  BestEffortExecutor first(8), second(8);
  REQUIRE(first.start({.running = threads}));
  REQUIRE(second.start({.running = threads}));
  descend(first, second, 60, sleeps);
  CHECK(first.jobs() + second.jobs() == 60);
  CHECK(first.shortages() + second.shortages() == 0);
}

TEST_CASE("chains of jobs that wait for each other go on beside each other") {
  BestEffortExecutor first(64), second(64);
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
  BestEffortExecutor first(8), second(8);
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
  BestEffortExecutor executor(8);
  REQUIRE(executor.start({.running = 1, .waiting = 1}));
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
  submit(executor, first);
  submit(executor, second);
  while (executor.shortages() == 0) std::this_thread::yield();  // bound: both jobs begin to wait
  submit(executor, third);
  CHECK(executor.threads() == 2);
  go.count_down();
  for (WaitingJob* job : {&first, &second, &third}) job->over.wait();
  CHECK(executor.shortages() == 1);
}

TEST_CASE("an executor stops with its threads in waits, in the reserve and without any") {
  BestEffortExecutor executor(8);
  REQUIRE(executor.start({.running = 2}));
  std::latch waits(1), go(1);
  WaitingJob job([&] {
    const SuspensionScope suspended;
    waits.count_down();
    go.wait();
  });
  submit(executor, job);
  waits.wait();
  CHECK(executor.threads() == 3);
  std::thread stops([&] { executor.stop(); });
  go.count_down();
  stops.join();
  CHECK(executor.threads() == 0);
  WaitingJob late([] {});
  JobPtr refused(&late);
  CHECK(executor.submit(refused) == Pushed::closed);
}
