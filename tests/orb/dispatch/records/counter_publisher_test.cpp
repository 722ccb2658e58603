// Tests what an executive with its threads publishes.
#include "orb/dispatch/records/counter_publisher.h"

#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>

#include "orb/dispatch/counter_page.h"
#include "orb/dispatch/executive.h"
#include "orb/dispatch/leases/host_ledger.h"
#include "orb/os/clock.h"
#include "orb/os/machine/topology.h"
#include "tests/support/quiet.h"
#include "tests/support/system/temp_directory.h"

namespace counter_publisher_test {

using namespace corelane;
using namespace corelane::dispatch;
using namespace std::chrono_literals;
using corelane::testing::Quiet;
using corelane::testing::TempDirectory;

namespace {

// Tells on which thread it ran; -1: it was refused or failed.
class ThreadJob final : public Job {
 public:
  explicit ThreadJob(std::shared_ptr<std::atomic<pid_t>> thread) : thread_(std::move(thread)) {}
  void run(const JobContext&) noexcept override { ran_on_ = gettid(); }
  void refuse(const sched::Refusal&) noexcept override {}
  void fail(Error) noexcept override {}
  void recycle() noexcept override {
    thread_->store(ran_on_);
    thread_->notify_all();
    delete this;
  }

 private:
  const std::shared_ptr<std::atomic<pid_t>> thread_;
  pid_t ran_on_ = -1;
};

// An executive that publishes its counters.
class Server {
 public:
  TaskId admit() {
    const auto admission =
        executive_->admit_and_wait({.contract = make_contract(100ms, 1ms, {}, 0ms), .label = "task"});
    REQUIRE(admission);
    return admission->task;
  }
  void depart(TaskId task) { executive_->depart(task); }
  // Runs a job of the task. Returns its thread.
  pid_t thread_of(TaskId task) {
    const auto thread = std::make_shared<std::atomic<pid_t>>(0);
    JobPtr job(new ThreadJob(thread));
    job->task = task;
    job->arrived = os::now();
    REQUIRE(executive_->submit(job));
    thread->wait(0);
    return thread->load();
  }
  // Returns the thread of the task on the page. Bound: the page is written twice a second.
  pid_t shown_thread_of(TaskId task) const {
    for (;;)
      for (const ProcessCounters& page : read_pages(directory_.path()))
        for (const TaskCounters& row : page.tasks)
          if (row.task == task && row.thread != 0) return row.thread;
  }

 private:
  std::unique_ptr<Executive> start() {
    ExecutiveOptions options;
    options.real_time = false;
    options.platform = {};
    options.recorder.runtime_directory = directory_.path();
    auto started = Executive::start(options, cores_);
    REQUIRE(started);
    return std::move(*started);
  }

  const Quiet quiet_;
  const TempDirectory directory_;
  UnguardedCores cores_{*os::Topology::detect()};
  std::unique_ptr<Executive> executive_ = start();
};

}  // namespace

TEST_CASE("the page names the thread of each task, also of two tasks whose threads have the same name") {
  Server server;
  const TaskId first = server.admit();
  TaskId second = server.admit();
  // The kernel keeps the first 15 characters of "cl-task-1048576" and "cl-task-10485761". Bound: the number of a task
  // grows with each task that has had its place.
  while (!std::to_string(second.value).starts_with(std::to_string(first.value))) {
    server.depart(second);
    second = server.admit();
  }
  const pid_t threads[] = {server.thread_of(first), server.thread_of(second)};
  CHECK(threads[0] > 0);
  CHECK(threads[1] > 0);
  CHECK(threads[0] != threads[1]);
  CHECK(server.shown_thread_of(first) == threads[0]);
  CHECK(server.shown_thread_of(second) == threads[1]);
}

}  // namespace counter_publisher_test
