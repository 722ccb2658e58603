// Tests how the application is told of jobs that are late or exceed their contract.
#include "orb/dispatch/task_events.h"

#include <stdexcept>
#include <thread>

#include "orb/dispatch/telemetry/lateness_log.h"
#include "orb/os/wait/wait.h"
#include "tests/orb/dispatch/fixture.h"
#include "tests/support/speechless.h"
#include "tests/support/system/captured_errors.h"

using namespace corelane;
using namespace corelane::dispatch;
using namespace corelane::dispatch::test;
using namespace std::chrono_literals;

namespace {

// Keeps the internal job until the test runs it.
class Later final : public InternalJobQueue {
 public:
  void take_internal(JobPtr& job) noexcept override {
    ++asked;
    if (room) held = std::move(job);
  }
  void run() {
    while (held) {  // bound: it asks again only for events that came meanwhile
      const JobPtr job = std::move(held);
      job->run({});
    }
  }
  JobPtr held;
  int asked = 0;
  bool room = true;
};

struct Events {
  explicit Events(InternalJobQueue& queue) : events(queue) {
    events.set(TaskEventKind::miss, [this](const TaskEvent& event) { heard.push_back(event); });
  }
  void miss(std::uint64_t job) { events.post({.kind = TaskEventKind::miss, .job = JobId{job}}); }
  void overrun(std::uint64_t job) { events.post({.kind = TaskEventKind::overrun, .job = JobId{job}}); }
  std::vector<std::uint64_t> jobs() const {
    std::vector<std::uint64_t> result;
    for (const TaskEvent& event : heard) result.push_back(event.job.value);
    return result;
  }
  TaskEvents events;
  std::vector<TaskEvent> heard;
};

using Numbers = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("the log tells of late jobs soon and then once in ten seconds and names the last task of each kind") {
  Later later;
  TaskEvents events(later);
  LatenessLog log(events, [](TaskId task) { return task == TaskId{7} ? "Plant.step" : ""; });
  const auto post = [&](TaskEventKind kind, TaskId task) { events.post({.kind = kind, .task = task}); };
  Time now{100s};
  CHECK_FALSE(log.line(now));
  post(TaskEventKind::miss, TaskId{7});
  CHECK(log.line(now) == "dispatch: 1 deadline was missed (task 7, Plant.step)");
  for (int i = 0; i < 3; ++i) post(TaskEventKind::overrun, TaskId{8});
  CHECK_FALSE(log.line(now += LatenessLog::quiet - 1ns));
  post(TaskEventKind::miss, TaskId{8});
  post(TaskEventKind::miss, TaskId{7});
  CHECK(log.line(now += 1ns) ==
        "dispatch: 2 deadlines were missed (last task 7, Plant.step), 3 jobs exceeded their budget (last task 8)");
  CHECK_FALSE(log.line(now += LatenessLog::quiet));
  post(TaskEventKind::oversleep, TaskId{8});
  CHECK(log.line(now) == "dispatch: 1 job slept for longer than it declared (task 8)");
  for (int i = 0; i < 2; ++i) events.note_refused(TaskId{7});
  CHECK(log.line(now += LatenessLog::quiet) ==
        "dispatch: 2 requests were refused while a job of their task waited (last task 7, Plant.step)");
}

TEST_CASE("events are told later and in order and one internal job is asked for") {
  Later later;
  Events events(later);
  for (std::uint64_t i = 1; i <= 3; ++i) events.miss(i);
  CHECK(events.heard.empty());
  CHECK(later.asked == 1);
  later.run();
  CHECK(events.jobs() == Numbers{1, 2, 3});
  events.miss(4);
  later.run();
  CHECK(events.jobs() == Numbers{1, 2, 3, 4});
}

TEST_CASE("an event kind without a handler costs nothing and is not reported") {
  Later later;
  Events events(later);
  events.overrun(1);
  CHECK(later.asked == 0);
  events.miss(2);
  events.events.set(TaskEventKind::miss, {});
  later.run();
  CHECK(events.heard.empty());
}

TEST_CASE("a handler may replace itself and post") {
  Later later;
  Events events(later);
  int second = 0;
  events.events.set(TaskEventKind::miss, [&](const TaskEvent&) {
    events.events.set(TaskEventKind::miss, [&](const TaskEvent&) { ++second; });
    events.miss(2);
  });
  events.miss(1);
  later.run();
  CHECK(second == 1);
}

TEST_CASE("a late job and one that exceeds its contract are told with what they did") {
  Later later;
  TaskEvents events(later);
  std::vector<TaskEvent> heard;
  for (const auto kind : {TaskEventKind::miss, TaskEventKind::overrun})
    events.set(kind, [&](const TaskEvent& event) { heard.push_back(event); });
  Machine machine;
  machine.manager.tell_events_to(events);
  const TaskId id = machine.admit(make_contract(10ms, 1ms, 5ms, 0ms));
  const Time sent = virtual_now;
  machine.send(id, 500us);
  machine.settle();
  later.run();
  CHECK(heard.empty());
  machine.advance(20ms);
  machine.send(id, 6ms);
  machine.settle();
  later.run();
  REQUIRE(heard.size() == 2);
  CHECK(heard[0].kind == TaskEventKind::miss);
  CHECK(heard[1].kind == TaskEventKind::overrun);
  for (const TaskEvent& event : heard) {
    CHECK(event.task == id);
    CHECK(event.release >= sent + 20ms);
    CHECK(event.deadline == event.release + 5ms);
    CHECK(event.finished == event.release + 6ms);
    CHECK(event.used == 6ms);
  }
}

TEST_CASE("in every mode the application hears of an overrun on a thread that is no task's") {
  const auto mode = GENERATE(DispatchMode::manager, DispatchMode::direct, DispatchMode::leader_followers);
  os::log::set_level(os::log::Level::off);
  ExecutiveOptions options;
  options.mode = mode;
  options.real_time = false;
  options.admission_test = &sched::admission::none;
  UnguardedCores cores(*os::Topology::detect());
  const auto executive = std::move(*Executive::start(options, cores));
  os::log::set_level(os::log::Level::info);
  os::Parker told;
  TaskId of{};
  std::thread::id job_thread, handler_thread;
  executive->on_event(TaskEventKind::overrun, [&](const TaskEvent& event) {
    of = event.task;
    handler_thread = std::this_thread::get_id();
    told.unpark();
  });
  const auto admission =
      executive->admit_and_wait({.contract = {.period = 1s, .deadline = 1s, .budget = 1ns}, .label = "t"});
  REQUIRE(admission);
  JobPtr job(new ScriptedJob([&](ScriptedJob&) { job_thread = std::this_thread::get_id(); }));
  job->task = admission->task;
  job->arrived = os::now();
  REQUIRE(executive->submit(job));
  CHECK(told.park(never));
  executive->stop();
  CHECK(of == admission->task);
  CHECK(handler_thread != job_thread);
}

// Error paths.

TEST_CASE("events that find no room are counted in the next one that does") {
  Later later;
  Events events(later);
  for (std::uint64_t i = 0; i < TaskEvents::capacity + 5; ++i) events.miss(i);
  later.run();
  CHECK(events.heard.size() == TaskEvents::capacity);
  events.miss(1000);
  later.run();
  CHECK(events.heard.back().lost == 5);
}

TEST_CASE("an internal job that finds no room is asked for again with the next event") {
  Later later;
  Events events(later);
  later.room = false;
  events.miss(1);
  later.room = true;
  events.miss(2);
  later.run();
  CHECK(events.jobs() == Numbers{1, 2});
}

TEST_CASE("the log says which handler threw") {
  const corelane::testing::CapturedErrors errors;
  Later later;
  TaskEvents events(later);
  for (const auto kind : {TaskEventKind::miss, TaskEventKind::overrun, TaskEventKind::oversleep}) {
    events.set(kind, [](const TaskEvent&) { throw std::runtime_error("broke"); });
    events.post({.kind = kind});
  }
  later.run();
  for (const char* name : {"on_miss", "on_overrun", "on_oversleep"})
    CHECK(errors.times(std::string("the handler of ") + name + " threw: broke") == 1);
}

TEST_CASE("an exception of a handler ends with the handler") {
  os::log::set_level(os::log::Level::off);
  Later later;
  Events events(later);
  int calls = 0;
  events.events.set(TaskEventKind::miss, [&](const TaskEvent&) {
    if (++calls == 1) throw std::runtime_error("once");
    if (calls == 2) throw 2;
    if (calls == 3) throw corelane::testing::Speechless();
  });
  for (std::uint64_t i = 0; i < 4; ++i) events.miss(i);
  later.run();
  os::log::set_level(os::log::Level::info);
  CHECK(calls == 4);
}
