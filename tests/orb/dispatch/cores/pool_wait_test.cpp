// Tests how task threads wait (pool.wait). Their spinning is charged, and no SCHED_FIFO thread spins without bound.
#include "orb/dispatch/executive.h"
#include "tests/orb/dispatch/fixture.h"

using namespace corelane;
using namespace corelane::dispatch;
using namespace corelane::dispatch::test;
using namespace std::chrono_literals;

namespace {

ExecutiveOptions waiting_by(os::WaitMode mode, Duration spin) {
  ExecutiveOptions options = bare_options();
  options.wait = {mode, spin};
  return options;
}

}  // namespace

TEST_CASE("the time that a task's thread may spin after each job counts in the admission") {
  const auto mode = GENERATE(os::WaitMode::spin_then_park, os::WaitMode::adaptive);
  Machine machine(1, waiting_by(mode, 1ms));
  CHECK(machine.report(machine.admit(plain(10ms, 2ms))).bound == 4ms);  // with its own and another's spinning
  CHECK(machine.report(machine.admit(plain(20ms, 2ms))).bound == 7ms);
}

TEST_CASE("a parked thread is charged nothing") {
  Machine machine(1, waiting_by(os::WaitMode::park, 1ms));
  CHECK(machine.report(machine.admit(plain(10ms, 2ms))).bound == 2ms);
}

TEST_CASE("a contract whose deadline leaves no room to spin is refused with what it would take") {
  Machine machine(1, waiting_by(os::WaitMode::spin_then_park, 1ms));
  const auto refusal = machine.refused(plain(10ms, 2ms, 2500us));
  CHECK(refusal.code == sched::RefusalCode::not_schedulable);
  CHECK(refusal.response == 3ms);
  CHECK(refusal.deadline == 2500us);
}

TEST_CASE("SCHED_FIFO threads that never sleep are refused at the start") {
  ExecutiveOptions options;
  options.mode = GENERATE(DispatchMode::manager, DispatchMode::direct, DispatchMode::leader_followers);
  options.wait.mode = os::WaitMode::spin;
  auto topology = os::Topology::detect();
  REQUIRE(topology);
  UnguardedCores cores(*topology);
  CHECK(Executive::start(options, cores).error().minor == minor::bad_option);
  options.real_time = false;
  CHECK(Executive::start(options, cores));
}
