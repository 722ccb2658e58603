// Tests the scheduling classes that a server of best-effort requests gives its threads, with the real kernel.
#include <sched.h>

#include <atomic>
#include <iostream>
#include <latch>
#include <thread>

#include "orb/dispatch/current.h"
#include "orb/dispatch/executive.h"
#include "orb/os/machine/topology.h"
#include "orb/os/privileges.h"
#include "tests/orb/dispatch/fixture.h"
#include "tests/support/quiet.h"

namespace server_classes_test {

using namespace corelane;
using namespace corelane::dispatch;
using namespace corelane::dispatch::test;
using namespace std::chrono_literals;

namespace {

constexpr int native = 48;

struct Seen {
  int policy = -1, level = -1;
  bool operator==(const Seen&) const = default;
};

Seen look() {
  sched_param parameters{};
  sched_getparam(0, &parameters);
  return {sched_getscheduler(0) & ~SCHED_RESET_ON_FORK, parameters.sched_priority};
}

void work_until(bool (*seen)(const Seen&)) {
  while (!seen(look())) continue;  // bound: the server's alarm
}

// Runs until it has seen its thread in each class, whatever class it starts in.
class RestlessJob final : public Job {
 public:
  explicit RestlessJob(std::latch& done) : done_(done) {}
  void run(const JobContext&) noexcept override {
    work_until([](const Seen& seen) { return seen == Seen{SCHED_FIFO, native}; });
    core = os::current_core();
    work_until([](const Seen& seen) { return seen == Seen{SCHED_OTHER, 0}; });
    work_until([](const Seen& seen) { return seen == Seen{SCHED_FIFO, native}; });
  }
  void refuse(const sched::Refusal&) noexcept override {}
  void fail(Error) noexcept override {}
  void recycle() noexcept override { done_.count_down(); }
  CoreId core = no_core;

 private:
  std::latch& done_;
};

}  // namespace

TEST_CASE("best-effort jobs run above the tasks while the server has budget and below them while it has none") {
  if (!os::privileges().fifo) {
    std::cout << "SKIPPED: no privilege for SCHED_FIFO here\n";
    return;
  }
  const testing::Quiet quiet;
  const auto kind = GENERATE(BestEffortServer::sporadic, BestEffortServer::deferrable);
  UnguardedCores cores(*os::Topology::detect());
  const CoreId last = cores.lease({})->back().core;
  ExecutiveOptions options;
  options.best_effort_server = {.kind = kind, .reservation = {1ms, 20ms}, .cores = {last}};
  auto executive = Executive::start(options, cores);
  REQUIRE(executive);
  std::latch done(3);
  RestlessJob jobs[3] = {RestlessJob(done), RestlessJob(done), RestlessJob(done)};
  for (RestlessJob& job : jobs) {
    JobPtr pushed(&job);
    REQUIRE((*executive)->submit(pushed));
  }
  done.wait();
  for (const RestlessJob& job : jobs) CHECK(job.core == last);
  const auto servers = (*executive)->snapshot().best_effort_servers;
  REQUIRE(servers.size() == 1);
  CHECK(servers[0].core == last);
  CHECK(servers[0].used > 0ms);
  CHECK(servers[0].exhausted >= 1);
}

TEST_CASE("threads that replace others which wait have the budget of their core together") {
  if (!os::privileges().fifo) {
    std::cout << "SKIPPED: no privilege for SCHED_FIFO here\n";
    return;
  }
  const testing::Quiet quiet;
  UnguardedCores cores(*os::Topology::detect());
  const CoreId last = cores.lease({})->back().core;
  ExecutiveOptions options;
  options.best_effort_threads = 1;
  options.best_effort_server = {.kind = BestEffortServer::sporadic, .reservation = {1ms, 20ms}, .cores = {last}};
  auto executive = Executive::start(options, cores);
  REQUIRE(executive);
  // Each job waits for the next one. The thread of the last one gets the server's class, and is lowered with the
  // server.
  struct WaitsForNext final : Job {
    void run(const JobContext&) noexcept override {
      JobPtr pushed(next);
      const auto taken = executive->submit(pushed);
      const SuspensionScope waits;
      if (taken) over->wait();
    }
    void refuse(const sched::Refusal&) noexcept override {}
    void fail(Error) noexcept override {}
    void recycle() noexcept override { mine->count_down(); }
    Executive* executive = nullptr;
    Job* next = nullptr;
    std::latch *over = nullptr, *mine = nullptr;
  };
  std::latch over[4] = {std::latch(1), std::latch(1), std::latch(1), std::latch(1)};
  RestlessJob last_job(over[3]);
  WaitsForNext jobs[3];
  for (int i = 0; i < 3; ++i) {
    jobs[i].executive = executive->get();
    jobs[i].next = i < 2 ? static_cast<Job*>(&jobs[i + 1]) : &last_job;
    jobs[i].mine = &over[i];
    jobs[i].over = &over[i + 1];
  }
  JobPtr first(&jobs[0]);
  REQUIRE((*executive)->submit(first));
  over[0].wait();
  CHECK(last_job.core == last);
  CHECK((*executive)->snapshot().best_effort_threads >= 4);
}

TEST_CASE("a best-effort job runs beside a task that does not give up its core") {
  if (!os::privileges().fifo) {
    std::cout << "SKIPPED: no privilege for SCHED_FIFO here\n";
    return;
  }
  // Spins until the other job has run. On the same core, only a thread with a higher priority can do that.
  struct Spinning final : Job {
    void run(const JobContext&) noexcept override {
      running = true;
      running.notify_all();
      while (!end) continue;  // bound: the server gets its budget back
    }
    void refuse(const sched::Refusal&) noexcept override {}
    void fail(Error) noexcept override {}
    void recycle() noexcept override {
      over = true;
      over.notify_all();
    }
    std::atomic<bool> running{false}, end{false}, over{false};
  };
  struct Ending final : Job {
    explicit Ending(Spinning& spinning) : other(spinning) {}
    void run(const JobContext&) noexcept override {
      seen = look();
      other.end = true;
    }
    void refuse(const sched::Refusal&) noexcept override {}
    void fail(Error) noexcept override {}
    void recycle() noexcept override {}
    Spinning& other;
    Seen seen;
  };
  const testing::Quiet quiet;
  UnguardedCores cores(*os::Topology::detect());
  const CoreId last = cores.lease({})->back().core;
  ExecutiveOptions options;
  options.lease.cores = {last};
  options.best_effort_server = {.kind = BestEffortServer::sporadic, .reservation = {1ms, 20ms}, .cores = {}};
  auto executive = Executive::start(options, cores);
  REQUIRE(executive);
  const auto admission =
      (*executive)->admit_and_wait({.contract = make_contract(1s, 1ms, {}, 0ms), .owner = {}, .label = "spins"});
  REQUIRE(admission);
  Spinning spinning;
  Ending ending(spinning);
  JobPtr first(&spinning), second(&ending);
  first->task = admission->task;
  REQUIRE((*executive)->submit(first));
  spinning.running.wait(false);
  REQUIRE((*executive)->submit(second));
  spinning.over.wait(false);
  CHECK(ending.seen == Seen{SCHED_FIFO, native});
  (*executive)->stop();
}

}  // namespace server_classes_test
