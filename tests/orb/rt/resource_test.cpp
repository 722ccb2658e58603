// Tests resources as a servant locks them, with real threads, in the modes that analyze.
#include "orb/rt/resource.h"

#include <pthread.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <iostream>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "orb/dispatch/executive.h"
#include "orb/dispatch/leases/host_ledger.h"
#include "orb/dispatch/resources/resource_names.h"
#include "orb/os/clock.h"
#include "orb/os/log.h"
#include "orb/os/machine/topology.h"
#include "orb/os/privileges.h"
#include "orb/os/wait/wait.h"

using namespace corelane;
using namespace std::chrono_literals;

namespace {

int fifo_level() {
  sched_param parameters{};
  int policy = -1;
  pthread_getschedparam(pthread_self(), &policy, &parameters);
  return (policy & ~SCHED_RESET_ON_FORK) == SCHED_FIFO ? parameters.sched_priority : 0;
}

class BodyJob final : public dispatch::Job {
 public:
  BodyJob(std::function<void()> body, os::Parker& done) : body_(std::move(body)), done_(done) {}
  void run(const dispatch::JobContext&) noexcept override { body_(); }
  void refuse(const sched::Refusal&) noexcept override {}
  void fail(Error) noexcept override {}
  void recycle() noexcept override {
    os::Parker& done = done_;
    delete this;
    done.unpark();
  }

 private:
  const std::function<void()> body_;
  os::Parker& done_;
};

class Server {
 public:
  explicit Server(bool real_time) {
    os::log::set_level(os::log::Level::off);
    dispatch::ExecutiveOptions options;
    options.real_time = real_time;
    executive_ = std::move(*dispatch::Executive::start(options, cores_));
    os::log::set_level(os::log::Level::info);
  }
  TaskId admit(Duration deadline) {
    Contract contract = make_contract(1s, 1ms, deadline);
    contract.uses[0] = use_of("bus", 500us);
    const auto admission = executive_->admit_and_wait({.contract = contract, .label = "task"});
    REQUIRE(admission);
    return admission->task;
  }
  // Runs the body as a job of the task, and waits until it has ended.
  void run(TaskId task, std::function<void()> body) {
    os::Parker done;
    dispatch::JobPtr job(new BodyJob(std::move(body), done));
    job->task = task;
    job->arrived = os::now();
    REQUIRE(executive_->submit(job));
    CHECK(done.park(never));
  }

 private:
  dispatch::UnguardedCores cores_{*os::Topology::detect()};
  std::unique_ptr<dispatch::Executive> executive_;
};

}  // namespace

TEST_CASE("a servant that locks a resource runs at the priority of its most urgent user") {
  if (!os::privileges().fifo) return void(std::cout << "SKIPPED: no privilege for SCHED_FIFO\n");
  Server server(true);
  rt::Resource bus("bus");
  const TaskId low = server.admit(900ms), high = server.admit(100ms);
  int of_high = 0, before = 0, inside = 0, after = 0;
  server.run(high, [&] { of_high = fifo_level(); });
  server.run(low, [&] {
    before = fifo_level();
    {
      const std::lock_guard<rt::Resource> section(bus);
      inside = fifo_level();
    }
    after = fifo_level();
  });
  CHECK(before < of_high);
  CHECK(inside == of_high);
  CHECK(after == before);
}

TEST_CASE("a resource is held by one thread at a time, with or without a task") {
  Server server(false);
  rt::Resource bus("bus");
  const TaskId task = server.admit(900ms);
  long count = 0;
  {
    std::vector<std::jthread> others;
    for (int t = 0; t < 3; ++t)
      others.emplace_back([&] {
        for (int i = 0; i < 2000; ++i) {
          const std::lock_guard<rt::Resource> section(bus);
          ++count;
        }
      });
    server.run(task, [&] {
      for (int i = 0; i < 2000; ++i) {
        const std::lock_guard<rt::Resource> section(bus);
        ++count;
      }
    });
  }
  CHECK(count == 8000);
}

TEST_CASE("a resource that is taken is not waited for by try_lock") {
  rt::Resource bus("bus");
  const std::lock_guard<rt::Resource> section(bus);
  bool locked = true;
  std::jthread([&] { locked = bus.try_lock(); }).join();
  CHECK_FALSE(locked);
}

TEST_CASE("a resource is remembered by its name, also when it is gone") {
  { const rt::Resource resource("remembered"); }
  const rt::Resource again("remembered");
  CHECK(std::ranges::count(dispatch::remembered_resources(), std::string("remembered")) == 1);
}
