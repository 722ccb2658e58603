// Tests how much a task's thread reads without finding a job: the throttle by itself, and together with jobs.
#include "orb/dispatch/tasks/read_throttle.h"

#include <deque>

#include "tests/orb/dispatch/fixture.h"

using namespace corelane;
using namespace corelane::dispatch;
using namespace corelane::dispatch::test;
using namespace std::chrono_literals;

namespace {

constexpr Duration period = 200us, budget = 20us;

Time at(Duration since_start) { return Time{1s + since_start}; }

// Returns the throttle of a task whose job has used that much.
ReadThrottle after_job(Duration used) {
  ReadThrottle throttle(plain(period, budget));
  throttle.ran(used);
  return throttle;
}

// A client that sends as fast as the thread reads. Every third message is a job. Reading and jobs take time. `backlog`
// messages are in the socket from the start, so each message waits there for that many reads.
class Flood final : public BoundSource {
 public:
  Flood(TaskId task, PeerId owner, std::size_t backlog) : task_(task), owner_(owner), sent_(backlog, virtual_now) {}
  void opened() noexcept override {}
  Found poll(JobPtr& job, Time) noexcept override {
    virtual_now += cost_of_a_read;
    virtual_cpu += cost_of_a_read;
    sent_.push_back(virtual_now);
    const Time sent = sent_.front();
    sent_.pop_front();
    if (++reads_ % 3 != 0) return Found::bytes;
    job = JobPtr(new TestJob(fate, 12us));
    job->task = task_;
    job->owner = owner_;
    job->arrived = sent;
    return Found::job;
  }
  int descriptor() const noexcept override { return 7; }
  Time wake_at() const noexcept override { return never; }
  void lend() noexcept override {}
  void take_back() noexcept override {}
  void close() noexcept override {}

  static constexpr Duration cost_of_a_read = 2us;
  const std::shared_ptr<Fate> fate = std::make_shared<Fate>();

 private:
  const TaskId task_;
  const PeerId owner_;
  std::deque<Time> sent_;  // when each message in the socket arrived
  int reads_ = 0;
};

struct Sample {
  Time at;
  Duration cpu;
};

// Returns what the task's thread uses from its first job on, while its client floods it.
std::vector<Sample> play(Machine& machine, const Flood& flood, Duration length) {
  std::vector<Sample> samples;
  TaskWorker& worker = *machine.threads.threads.front()->worker;
  const Time end = virtual_now + length;
  while (virtual_now < end) {
    if (flood.fate->runs > 0) samples.push_back({virtual_now, virtual_cpu});
    if (!worker.step(virtual_now)) virtual_now = std::max(virtual_now + 1ns, worker.wake_at(virtual_now));
  }
  return samples;
}

Duration most_in_a_period(const std::vector<Sample>& samples) {
  Duration most{};
  std::size_t last = 0;
  for (const Sample& first : samples) {
    while (last + 1 < samples.size() && samples[last + 1].at <= first.at + period) ++last;
    most = std::max(most, samples[last].cpu - first.cpu);
  }
  return most;
}

}  // namespace

TEST_CASE("a client that floods its task gets no more than the task's budget in each period, jobs included") {
  const std::size_t backlog = GENERATE(std::size_t{0}, std::size_t{1}, std::size_t{64});
  Machine machine;
  const PeerId owner{9};
  const TaskId task = machine.admit(plain(period, budget), owner);
  const auto flood = std::make_shared<Flood>(task, owner, backlog);
  machine.manager.attach(task, owner, flood);
  machine.decide();
  const auto samples = play(machine, *flood, 100ms);
  CHECK(most_in_a_period(samples) <= budget + Flood::cost_of_a_read);
  CHECK(most_in_a_period(samples) > 12us);
  CHECK(flood->fate->runs > 100);
}

TEST_CASE("reading in vain may use what the longest job leaves of the budget") {
  ReadThrottle throttle = after_job(15us);
  throttle.wasted(at(0us), 2us);
  throttle.wasted(at(2us), 3us);
  CHECK(throttle.opens_at() <= at(2us));
  throttle.wasted(at(3us), 1us);
  CHECK(throttle.opens_at() >= at(3us) + period);
}

TEST_CASE("a read that takes more than was left is paid for by a longer pause") {
  ReadThrottle throttle = after_job(15us);
  throttle.wasted(at(0us), 15us);
  CHECK(throttle.opens_at() > at(0us) + 2 * period);
  CHECK(throttle.opens_at() <= at(0us) + 3 * period);
}

TEST_CASE("after a period without it reading in vain begins anew") {
  ReadThrottle throttle = after_job(15us);
  throttle.wasted(at(0us), 4us);
  const Duration pause = GENERATE(period - 1ns, period);
  throttle.wasted(at(pause), 4us);
  CHECK((throttle.opens_at() > at(pause)) == (pause < period));
}

TEST_CASE("a task whose jobs leave nothing of its budget is read all the same") {
  ReadThrottle throttle = after_job(budget);
  throttle.wasted(at(0us), 1us);
  CHECK(throttle.opens_at() <= at(0us));
  throttle.wasted(at(1us), 1us);
  CHECK(throttle.opens_at() > at(1us));
}

TEST_CASE("a request without an end is read within half of the budget") {
  ReadThrottle throttle = after_job(15us);
  throttle.piece(at(0us), 10us);
  CHECK(throttle.opens_at() <= at(0us));
  throttle.piece(at(1us), 11us);
  REQUIRE(throttle.opens_at() > at(1us));
  throttle.piece(at(2ms), 21us);
  CHECK(throttle.opens_at() < at(2ms));
  throttle.piece(at(2ms), 22us);
  CHECK(throttle.opens_at() > at(2ms));
}

TEST_CASE("a job beyond its budget leaves the reserve as it was") {
  ReadThrottle throttle = after_job(15us);
  throttle.ran(5ms);
  throttle.wasted(at(0us), 5us);
  CHECK(throttle.opens_at() <= at(0us));
}

TEST_CASE("the pieces of a request that became a job leave the next one as much") {
  ReadThrottle throttle = after_job(15us);
  for (Duration now = 0us; now < 10 * period; now += period) {
    throttle.piece(at(now), 5us);
    throttle.ran(20us);
  }
  CHECK(throttle.opens_at() < at(0us));
}
