// Tests core pools, and workers that move between them, with real threads. Meant to run under ThreadSanitizer, too.
#include "orb/dispatch/cores/core_pool.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <thread>
#include <vector>

#include "orb/dispatch/cores/task_worker.h"
#include "orb/dispatch/current.h"
#include "orb/os/clock.h"
#include "orb/os/fd.h"

using namespace corelane;
using namespace corelane::dispatch;
using namespace std::chrono_literals;

namespace {

class CountedJob final : public Job {
 public:
  explicit CountedJob(std::atomic<int>& runs) : runs_(runs), refusals_(runs) {}
  CountedJob(std::atomic<int>& runs, std::atomic<int>& refusals) : runs_(runs), refusals_(refusals) {}
  void run(const JobContext&) noexcept override { ++runs_; }
  void refuse(const sched::Refusal&) noexcept override {
    if (&refusals_ != &runs_) ++refusals_;
  }
  void fail(Error) noexcept override {}
  void recycle() noexcept override { delete this; }

 private:
  std::atomic<int>& runs_;
  std::atomic<int>& refusals_;
};

// Suspends itself several times, as a job does that waits for something other than its core.
class SleepyJob final : public Job {
 public:
  static constexpr int sleeps = 5;
  SleepyJob(std::atomic<int>& runs, std::atomic<int>& sleeps_seen) : runs_(runs), sleeps_seen_(sleeps_seen) {}
  void run(const JobContext&) noexcept override {
    for (int i = 0; i < sleeps; ++i) {
      const SuspensionScope scope;
      ++sleeps_seen_;
    }
    ++runs_;
  }
  void refuse(const sched::Refusal&) noexcept override {}
  void fail(Error) noexcept override {}
  void recycle() noexcept override { delete this; }

 private:
  std::atomic<int>& runs_;
  std::atomic<int>& sleeps_seen_;
};

// A connection whose client is another thread of the test.
class Pipe final : public JobSource {
 public:
  PeerId connection() const noexcept override { return PeerId{1}; }
  bool comes_back() const noexcept override { return false; }
  Pipe() {
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    read_.reset(ends[0]), write_.reset(ends[1]);
  }
  void send() { REQUIRE(::write(write_.get(), "x", 1) == 1); }
  void end() { write_.reset(); }

  void opened() noexcept override {}
  Found poll(JobPtr& job, Time now) noexcept override {
    pollfd entry{.fd = read_.get(), .events = POLLIN, .revents = 0};
    char byte = 0;
    if (::poll(&entry, 1, 0) == 0) return ++looks_in_vain, Found::nothing;
    if (::read(read_.get(), &byte, 1) != 1) return Found::end;
    job.reset(new CountedJob(runs, refusals));
    job->arrived = now;
    return Found::job;
  }
  bool drained() const noexcept override { return true; }  // the descriptor tells what is there
  int descriptor() const noexcept override { return read_.get(); }
  Time wake_at() const noexcept override { return never; }
  void lend() noexcept override {}
  void take_back() noexcept override {}
  void close() noexcept override { ++closings; }

  std::atomic<int> runs{0}, refusals{0}, closings{0}, looks_in_vain{0};

 private:
  os::Fd read_, write_;
};

// One task and two pools. The test's thread acts as the manager.
class TwoPools {
 public:
  TwoPools() { here_->add(worker, Priority{1}); }

  bool send() { return send(JobPtr(new CountedJob(runs))); }
  bool send(JobPtr job) { return here_->arrive(*worker, std::move(job), next_job_id(), os::now()).job == nullptr; }
  void move() {
    CorePool* const there = here_ == &a_ ? &b_ : &a_;
    here_->move(worker, *there, Priority{1}, os::now());
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

 public:
  std::atomic<int> runs{0};
  WorkerPtr worker =
      std::make_shared<TaskWorker>(TaskId{1}, Contract{.period = 1ns, .deadline = 1s, .budget = 1us}, a_, Clock{});
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
      while (!pools.vacated()) std::this_thread::yield();  // bound: the accepted jobs, each of which ends
      sent += pools.send() ? 1 : 0;                        // waits, and starts where the task arrives
      pools.move();
    }
    pools.worker->retire();
  }
  CHECK(sent >= moves);
  CHECK(pools.runs == sent);
}

TEST_CASE("a worker whose task is moved while its jobs run and sleep runs each of them to its end") {
  constexpr int moves = 5000;
  TwoPools pools;
  std::atomic<int> sleeps{0};
  int sent = 0;
  {
    std::jthread thread([&] { pools.worker->loop(); });
    for (int i = 0; i < moves; ++i) {
      sent += pools.send(JobPtr(new SleepyJob(pools.runs, sleeps))) ? 1 : 0;
      pools.move();
    }
    while (pools.runs < sent) std::this_thread::yield();  // bound: the accepted jobs, each of which ends
    pools.vacate();
    while (!pools.vacated()) std::this_thread::yield();  // bound: as above; no pool still believes that a job runs
    pools.worker->retire();
  }
  CHECK(sent > 0);
  CHECK(sleeps == sent * SleepyJob::sleeps);
}

TEST_CASE("a worker whose own connection brings jobs while its task moves runs or refuses each once") {
  constexpr int moves = 500, jobs = 5000;
  TwoPools pools;
  const auto pipe = std::make_shared<Pipe>();
  REQUIRE(pools.worker->give(pipe));
  {
    std::jthread thread([&] { pools.worker->loop(); });
    std::jthread client([&] {
      for (int i = 0; i < jobs; ++i) pipe->send();
    });
    for (int i = 0; i < moves; ++i) {
      pools.vacate();
      while (!pools.vacated()) std::this_thread::yield();  // bound: the accepted jobs, each of which ends
      pools.move();
    }
    while (pipe->runs + pipe->refusals < jobs) std::this_thread::yield();  // bound: as above
    pools.worker->retire();
  }
  CHECK(pipe->runs + pipe->refusals == jobs);
  CHECK(pipe->closings == 1);
  CHECK_FALSE(pools.worker->give(pipe));
}

TEST_CASE("a worker sleeps until its own connection brings a job, is woken by others, and outlives it") {
  TwoPools pools;
  const auto pipe = std::make_shared<Pipe>();
  std::jthread thread([&] { pools.worker->loop(); });
  REQUIRE(pools.worker->give(pipe));
  pipe->send();
  while (pipe->runs == 0) std::this_thread::yield();  // bound: the worker's wake-up
  REQUIRE(pools.send());
  while (pools.runs == 0) std::this_thread::yield();  // bound: as above
  pipe->end();
  while (pipe->closings == 0) std::this_thread::yield();  // bound: as above
  REQUIRE(pools.send());
  while (pools.runs == 1) std::this_thread::yield();  // bound: as above
  pools.worker->retire();
}

TEST_CASE("a worker that has emptied its own connection sleeps without another look at it") {
  TwoPools pools;
  const auto pipe = std::make_shared<Pipe>();
  std::jthread thread([&] { pools.worker->loop(); });
  REQUIRE(pools.worker->give(pipe));
  int sent = 0;
  const auto send_one = [&] {
    pipe->send();
    for (++sent; pipe->runs < sent;) std::this_thread::yield();  // bound: the worker's wake-up
  };
  send_one();
  send_one();  // uses up the wake-up that the connection caused
  const int looks = pipe->looks_in_vain;
  send_one();
  CHECK(pipe->looks_in_vain == looks);
  pools.worker->retire();
}
