// Tests cores whose tasks have servers of their own: which server a contract gets, and which tasks are admitted there.
#include "orb/sched/servers/task_server.h"

#include "tests/orb/sched/manager_fixture.h"

using namespace corelane;
using namespace corelane::sched;
using namespace corelane::sched::testing;
using namespace std::chrono_literals;

namespace {

ManagerOptions served_core() {
  ManagerOptions options = cores_of(1);
  options.cores[0].order = CoreOrder::served;
  return options;
}

}  // namespace

TEST_CASE("a task's server has its budget with some slack, and its deadline less the jitter as period") {
  struct Row {
    Contract contract;
    Reservation server;
  };
  const Row rows[] = {
      {{.period = 10ms, .deadline = 10ms, .budget = 500us}, {550us, 10ms}},
      {{.period = 10ms, .deadline = 10ms, .budget = 50us}, {60us, 10ms}},
      {{.period = 10ms, .deadline = 10ms, .budget = 5ms}, {5100us, 10ms}},
      {{.period = 10ms, .deadline = 10ms, .budget = 5ms, .jitter = 1ms}, {5100us, 9ms}},
      {{.period = 10ms, .deadline = 4ms, .budget = 2ms, .jitter = 1ms}, {2100us, 3ms}},
      {{.period = 10ms, .deadline = 30ms, .budget = 5ms, .jitter = 1ms}, {5100us, 10ms}},
      {{.period = 1h, .deadline = 1h, .budget = 1ms}, {1100us, longest_server_period}},
      {{.period = 100us, .deadline = 100us, .budget = 40us}, {50us, 100us}},
      // No server exists for these contracts.
      {{.period = 99us, .deadline = 99us, .budget = 40us}, {}},
      {{.period = 10ms, .deadline = 10ms, .budget = 10ms}, {}},
      {{.period = 10ms, .deadline = 10ms, .budget = 1ms, .suspension = 1ms}, {}},
      {{.period = 10ms, .deadline = 10ms, .budget = 1ms, .uses = {{{ResourceId{7}, 100us}}}}, {}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.contract.budget.count(), row.contract.period.count());
    CHECK(task_server_of(row.contract) == row.server);
  }
}

TEST_CASE("a core of served tasks is full when their servers' shares are, however their deadlines lie") {
  Bench bench(served_core());
  const Contract half{.period = 10ms, .deadline = 5ms, .budget = 2400us};  // a server of 2500 us in 5 ms
  bench.admitted(half);
  const Refusal second = bench.refused(half);  // by its demand, it would fit beside the first
  CHECK(second.code == RefusalCode::not_schedulable);
  CHECK(second.closest == CoreId{0});
  const TaskId other = bench.admitted({.period = 10ms, .deadline = 10ms, .budget = 4ms});
  CHECK(bench.manager.find(other)->response == 10ms);
  CHECK(bench.refused({.period = 10ms, .deadline = 10ms, .budget = 1ms}).code == RefusalCode::not_schedulable);
}

TEST_CASE("a core of served tasks refuses a task that suspends itself, locks resources, or has no server") {
  Bench bench(served_core());
  const Contract rows[] = {
      {.period = 10ms, .deadline = 10ms, .budget = 1ms, .suspension = 1ms},
      {.period = 10ms, .deadline = 10ms, .budget = 1ms, .uses = {{{ResourceId{7}, 100us}}}},
      {.period = 50us, .deadline = 50us, .budget = 5us},
  };
  for (const Contract& contract : rows) CHECK(bench.refused(contract).code == RefusalCode::not_schedulable);
}
