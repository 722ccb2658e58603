// RealAlarm runs jobs of one task on a core pool of its own. It has the thread that runs the jobs, and the real alarm
// that watches their budget. The thread is bound to no core and has no priority.
#pragma once

#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "orb/dispatch/cores/budget_thread.h"
#include "orb/os/clock.h"
#include "tests/orb/dispatch/fixture.h"

namespace corelane::dispatch::test {

class RealAlarm {
 public:
  explicit RealAlarm(const Contract& contract) {
    pools_.push_back(std::make_unique<CorePool>(CoreId{0}, 4, inbox_));
    worker_ = std::make_shared<TaskWorker>(TaskId{1}, contract, *pools_[0], Clock{});
    budgets_.emplace(pools_);
    REQUIRE(budgets_->start({.name = "budgets"}));
    REQUIRE(pools_[0]->add(worker_, Priority{1}));
    thread_ = std::jthread([this] { worker_->loop(); });
  }
  RealAlarm(const RealAlarm&) = delete;
  RealAlarm& operator=(const RealAlarm&) = delete;
  ~RealAlarm() {
    end();
    budgets_->stop();
  }

  // Runs one job, and returns when its body has returned. Bound: the body's.
  void run(std::function<void()> body) {
    ended_ = false;
    JobPtr job(new ScriptedJob([&](ScriptedJob&) {
      body();
      ended_ = true;
      ended_.notify_all();
    }));
    REQUIRE_FALSE(pools_[0]->arrive(*worker_, std::move(job), JobId{1}, os::now()).job);
    ended_.wait(false);
  }
  // Ends the task's thread, and returns what it has counted.
  const TaskStatistics& end() {
    worker_->retire();
    if (thread_.joinable()) thread_.join();
    return worker_->statistics();
  }

 private:
  os::Parker manager_;
  NoteInbox inbox_{4, manager_};
  std::vector<std::unique_ptr<CorePool>> pools_;
  std::optional<BudgetThread> budgets_;  // of the pools that exist when it is made
  WorkerPtr worker_;
  std::atomic<bool> ended_{false};
  std::jthread thread_;
};

}  // namespace corelane::dispatch::test
