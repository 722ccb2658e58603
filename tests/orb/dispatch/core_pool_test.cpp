// Pools and the workers that travel between them, with real threads; the thread sanitizer watches.
#include "orb/dispatch/core_pool.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <thread>
#include <vector>

#include "orb/dispatch/task_worker.h"
#include "orb/os/clock.h"

using namespace corelane;
using namespace corelane::dispatch;
using namespace std::chrono_literals;

namespace {

class CountedJob final : public Job {
 public:
  explicit CountedJob(std::atomic<int>& runs) : runs_(runs) {}
  void run(const JobContext&) noexcept override { ++runs_; }
  void refuse(const sched::Refusal&) noexcept override {}
  void fail(Error) noexcept override {}
  void recycle() noexcept override { delete this; }

 private:
  std::atomic<int>& runs_;
};

// One task, two pools; the test's thread is the manager.
class TwoPools {
 public:
  TwoPools() { here_->add(worker, Priority{1}); }

  bool send() {
    return here_->arrive(*worker, JobPtr(new CountedJob(runs)), JobId{++last_job_}, os::now()).job == nullptr;
  }
  void move() {
    CorePool* const there = here_ == &a_ ? &b_ : &a_;
    there->put(worker, here_->take_out(*worker), os::now());
    here_ = there;
  }
  void vacate() { here_->vacate(worker->task(), os::now()); }
  bool vacated() {
    notes_.clear();
    inbox_.drain(notes_);
    for (const Note& note : notes_)
      if (std::holds_alternative<sched::Vacated>(note)) return true;
    return false;
  }

 private:
  os::Parker manager_;
  NoteInbox inbox_{4, manager_};
  CorePool a_{CoreId{0}, 4, inbox_};
  CorePool b_{CoreId{1}, 4, inbox_};
  CorePool* here_ = &a_;
  std::vector<Note> notes_ = [] {
    std::vector<Note> notes;
    notes.reserve(16);
    return notes;
  }();
  std::uint64_t last_job_ = 0;

 public:
  std::atomic<int> runs{0};
  WorkerPtr worker =
      std::make_shared<TaskWorker>(TaskId{1}, Contract{.period = 1us, .deadline = 1s, .budget = 1us}, a_, Clock{});
};

}  // namespace

TEST_CASE("a worker that looks for jobs while its task moves runs each job once") {
  constexpr int moves = 2000;
  TwoPools pools;
  int sent = 0;
  {
    std::jthread thread([&] { pools.worker->loop(); });
    std::jthread nuisance([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) pools.worker->wake();  // bound: the moves below
    });
    for (int i = 0; i < moves; ++i) {
      sent += pools.send() ? 1 : 0;
      pools.vacate();
      while (!pools.vacated()) std::this_thread::yield();  // bound: the jobs accepted, each of which ends
      sent += pools.send() ? 1 : 0;                        // waits, and starts where the task arrives
      pools.move();
    }
    pools.worker->retire();
  }
  CHECK(sent >= moves);
  CHECK(pools.runs == sent);
}
