// After warm-up a job goes from submit() to its end without a single allocation.
#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>
#include <new>

#include "tests/orb/dispatch/fixture.h"

namespace {

thread_local std::size_t allocations = 0;

}  // namespace

#if !defined(__SANITIZE_ADDRESS__)  // which brings its own operators and checks that they match
// The whole test program counts; only this file looks.
void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size ? size : 1)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size ? size : 1);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  ++allocations;
  const auto unit = static_cast<std::size_t>(alignment);
  if (void* memory = std::aligned_alloc(unit, (size + unit - 1) / unit * unit)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
#endif

using namespace corelane;
using namespace corelane::dispatch;
using namespace corelane::dispatch::test;
using namespace std::chrono_literals;

namespace {

// A job that its owner keeps, as a pool of request buffers does.
class KeptJob final : public Job {
 public:
  void run(const JobContext&) noexcept override { ++runs; }
  void refuse(const sched::Refusal&) noexcept override { ++refusals; }
  void fail(Error) noexcept override {}
  void recycle() noexcept override {}
  int runs = 0, refusals = 0;
};

std::size_t cost_of(Machine& machine, KeptJob& job, TaskId task) {
  TaskWorker& worker = *machine.threads.threads.front()->worker;
  const std::size_t before = allocations;
  job.task = task;
  job.arrived = virtual_now;
  JobPtr pushed(&job);
  if (machine.manager.submit(pushed) != Pushed::done) return 1'000'000;
  machine.manager.step(virtual_now);
  worker.step(virtual_now);
  return allocations - before;
}

// Whether this program's allocations are counted; else says that the test is skipped.
bool counted() {
  const std::size_t before = allocations;
  const auto something = std::make_unique<std::array<char, 64>>();
  something->fill(1);
  if (allocations > before) return true;
  std::cout << "SKIPPED: the sanitizer's operator new is in use, allocations are not counted\n";
  return false;
}

}  // namespace

#if !defined(__SANITIZE_ADDRESS__)
TEST_CASE("allocations are counted") {
  const std::size_t before = allocations;
  ::operator delete(::operator new(64));
  CHECK(allocations == before + 1);
}
#endif

TEST_CASE("a job that runs allocates nothing") {
  if (!counted()) return;
  Machine machine;
  const TaskId id = machine.admit(make_contract(10ms, 1ms, {}, 0ms));
  KeptJob job;
  for (int i = 1; i <= 100; ++i) {
    CHECK(cost_of(machine, job, id) == 0);
    CHECK(job.runs == i);
    virtual_now += 10ms;
  }
}

TEST_CASE("a job that is early or turned away allocates nothing") {
  if (!counted()) return;
  Machine machine;
  const TaskId id = machine.admit(make_contract(10ms, 1ms, {}, 0ms));
  KeptJob first, early, refused;
  CHECK(cost_of(machine, first, id) == 0);
  CHECK(cost_of(machine, early, id) == 0);
  CHECK(early.runs == 0);
  CHECK(cost_of(machine, refused, id) == 0);
  CHECK(refused.refusals == 1);
  virtual_now += 10ms;
  const std::size_t before = allocations;
  CHECK(machine.threads.threads.front()->worker->step(virtual_now));
  CHECK(allocations == before);
  CHECK(early.runs == 1);
}
