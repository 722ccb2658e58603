// Threads of the best-effort lane and the jobs that come while one of them finishes another.
#include "orb/dispatch/best_effort_lane.h"

#include <catch2/catch.hpp>
#include <latch>
#include <thread>
#include <vector>

using namespace corelane;
using namespace corelane::dispatch;

namespace {

// Counts down when it has run; submits its successors while it finishes.
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
  REQUIRE(lane.start(4, 256 * 1024));
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
  REQUIRE(lane.start(threads, 256 * 1024));
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
