#include "services/corelane/real_run/run_records.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "orb/base/registry.h"
#include "orb/eval/dispatchers.h"

using namespace corelane;
using namespace corelane::tool;
using namespace std::chrono_literals;
using eval::MissCause;

namespace run_records_test {

constexpr std::int64_t ms = 1'000'000;
constexpr Time start{1000s};

// A run of two tasks on one core, 100 ms long. Task 0 has a period of 20 ms and is the more urgent one, task 1 has one
// of 50 ms. Deadlines are periods. Both were admitted, as tasks 7 and 8 of the server.
class TwoTasks {
 public:
  TwoTasks() {
    request.tasks = {{.label = "fast", .contract = make_contract(20ms, 5ms, 20ms, 0ms)},
                     {.label = "slow", .contract = make_contract(50ms, 20ms, 50ms, 1ms)}};
    request.cores = {CoreId{0}};
    request.dispatcher = find_named(eval::dispatchers(), "mc-orb");
    request.length = 100ms;
    records.start = start;
    records.answers = {{.admitted = true, .task = 7, .refusal = {}}, {.admitted = true, .task = 8, .refusal = {}}};
    records.planned.resize(2);
    for (int i = 0; i < 5; ++i) records.planned[0].push_back({.release = i * 20ms, .demand = 5ms});
    for (int i = 0; i < 2; ++i) records.planned[1].push_back({.release = i * 50ms, .demand = 20ms});
    records.ready.real_time = true;
    records.server.tasks = {{.task = 8, .core = 0, .priority = 1, .bound = 30 * ms},
                            {.task = 7, .core = 0, .priority = 2, .bound = 5 * ms}};
    records.clients = {{.failed = 0, .trouble = {}, .real_time = true}};
  }

  // Notes a job, with times in ms from the start of the run. Its execution is what lies between begin and end, 5 or 20
  // ms at most.
  JobRow& ran(std::int64_t task, std::int64_t number, std::int64_t release, std::int64_t begin, std::int64_t end) {
    const std::int64_t origin = start.time_since_epoch().count();
    records.server.jobs.push_back({.task = task,
                                   .number = number,
                                   .sent = origin + release * ms,
                                   .release = origin + release * ms,
                                   .begin = origin + begin * ms,
                                   .end = origin + end * ms,
                                   .core = 0,
                                   .execution = std::min<std::int64_t>(end - begin, task == 0 ? 5 : 20) * ms});
    return records.server.jobs.back();
  }
  // Both tasks run as planned, the fast one first.
  void run_in_time() {
    for (int i = 0; i < 5; ++i) ran(0, i, i * 20, i * 20, i * 20 + 5);
    ran(1, 0, 0, 5, 30);
    ran(1, 1, 50, 50, 75);
  }
  // Replaces what run_in_time() noted of the job.
  JobRow& reran(std::int64_t task, std::int64_t number, std::int64_t release, std::int64_t begin, std::int64_t end) {
    std::erase_if(records.server.jobs, [&](const JobRow& row) { return row.task == task && row.number == number; });
    return ran(task, number, release, begin, end);
  }

  eval::RunOutcome outcome() const { return outcome_of(request, records); }

  eval::RunRequest request;
  RunRecords records;
};

TEST_CASE_METHOD(TwoTasks, "jobs that end in time are no misses") {
  run_in_time();
  const eval::RunOutcome result = outcome();
  CHECK(result.misses.empty());
  CHECK(result.notes.empty());
  CHECK(result.real_time);
  const eval::TaskOutcome& fast = result.tasks[0];
  CHECK(fast.label == "fast");
  CHECK(fast.admitted);
  CHECK(fast.core == CoreId{0});
  CHECK(fast.bound == 5ms);
  CHECK(fast.jobs == 5);
  CHECK(fast.misses == 0);
  CHECK(fast.finished == 5);
  CHECK(fast.worst == 5ms);
  CHECK(fast.mean() == 5ms);
  CHECK(result.tasks[1].bound == 30ms);
  CHECK(result.tasks[1].worst == 30ms);
  CHECK(result.tasks[1].total == 55ms);
}

TEST_CASE_METHOD(TwoTasks, "a late job is a miss, with its times from the start of the run and its cause") {
  run_in_time();
  reran(0, 1, 20, 38, 41).longest_gap = 18 * ms;
  const eval::RunOutcome result = outcome();
  REQUIRE(result.misses.size() == 1);
  CHECK(result.misses[0] == eval::JobRecord{.task = 0,
                                            .number = 1,
                                            .release = 20ms,
                                            .start = 38ms,
                                            .finish = 41ms,
                                            .deadline = 40ms,
                                            .core = CoreId{0},
                                            .cause = MissCause::host});
  CHECK(result.tasks[0].misses == 1);
}

TEST_CASE_METHOD(TwoTasks, "a job counts from the release at the server") {
  run_in_time();
  reran(1, 0, 3, 30, 52);  // 52 ms after the planned release, but 49 after the server's
  const eval::RunOutcome result = outcome();
  CHECK(result.misses.empty());
  CHECK(result.tasks[1].worst == 49ms);
}

TEST_CASE_METHOD(TwoTasks, "a job whose predecessor still ran at the planned release counts from there") {
  run_in_time();
  reran(0, 1, 20, 40, 45);
  reran(0, 2, 46, 55, 61);  // sent late, since job 1 ended after 40
  const eval::RunOutcome result = outcome();
  REQUIRE(result.misses.size() == 2);
  CHECK(result.misses[1].number == 2);
  CHECK(result.misses[1].release == 40ms);
  CHECK(result.misses[1].deadline == 60ms);
}

TEST_CASE_METHOD(TwoTasks, "a client that stalled once shifts the deadlines of its later jobs") {
  run_in_time();
  reran(0, 1, 35, 40, 50);  // sent 15 ms late: the nominal releases of later jobs are as much later
  reran(0, 2, 55, 60, 65);  // the previous job ended after the planned release, 40
  const eval::RunOutcome result = outcome();
  CHECK(result.misses.empty());
  CHECK(result.tasks[0].worst == 15ms);
}

TEST_CASE_METHOD(TwoTasks, "a job that a client sends late without need counts from its release at the server") {
  run_in_time();
  reran(0, 1, 41, 41, 46);  // the client was stalled until after the release of job 2
  reran(0, 2, 46, 46, 51);
  const eval::RunOutcome result = outcome();
  CHECK(result.misses.empty());
  CHECK(result.notes ==
        std::vector<std::string>{
            "2 jobs were released at the server later than planned, by more than the jitter of the contract"});
}

TEST_CASE_METHOD(TwoTasks, "a call without a record is a miss that never ended") {
  run_in_time();
  std::erase_if(records.server.jobs, [](const JobRow& row) { return row.task == 1 && row.number == 0; });
  records.clients[0].failed = 1;
  records.clients[0].trouble = "COMM_FAILURE";
  const eval::RunOutcome result = outcome();
  REQUIRE(result.misses.size() == 1);
  CHECK(result.misses[0].finish == Duration::max());
  CHECK(result.misses[0].deadline == 50ms);
  CHECK(result.misses[0].cause == MissCause::unknown);
  CHECK(result.tasks[1].finished == 1);
  CHECK(result.notes.back() == "1 call failed; the last one: COMM_FAILURE");
}

TEST_CASE_METHOD(TwoTasks, "a refused task has the sentence for its client, and no jobs") {
  records.answers[1] = {.admitted = false, .task = 0, .refusal = "it does not fit"};
  records.planned[1].clear();
  for (int i = 0; i < 5; ++i) ran(0, i, i * 20, i * 20, i * 20 + 5);
  const eval::TaskOutcome slow = outcome().tasks[1];
  CHECK(!slow.admitted);
  CHECK(slow.refusal == "it does not fit");
  CHECK(slow.core == no_core);
  CHECK(slow.jobs == 0);
}

TEST_CASE_METHOD(TwoTasks, "the misses with the earliest deadlines are kept") {
  run_in_time();
  reran(1, 0, 0, 5, 55);
  reran(0, 1, 20, 30, 41);
  request.most_misses = 1;
  const eval::RunOutcome result = outcome();
  REQUIRE(result.misses.size() == 1);
  CHECK(result.misses[0].task == 0);
  CHECK(result.tasks[1].misses == 1);
}

TEST_CASE_METHOD(TwoTasks, "a run without real-time threads is marked") {
  run_in_time();
  SECTION("at the server") { records.ready = {.references = {}, .missing = {"no SCHED_FIFO"}, .real_time = false}; }
  SECTION("at a client") { records.clients[0].real_time = false; }
  CHECK(!outcome().real_time);
  if (!records.ready.real_time) CHECK(outcome().notes == std::vector<std::string>{"no SCHED_FIFO"});
}

TEST_CASE_METHOD(TwoTasks, "the gaps of all jobs are counted, with the time from begin to end") {
  ran(0, 0, 0, 0, 5).gaps = 2;
  ran(1, 0, 0, 5, 30).gaps = 1;
  CHECK(gaps_of(records) == GapCount{.gaps = 3, .watched = 30ms});
}

// Edges.

TEST_CASE_METHOD(TwoTasks, "a job whose deadline is behind the end of the run does not count, but its response does") {
  request.length = 99ms;
  run_in_time();
  reran(0, 4, 80, 99, 104);
  const eval::RunOutcome result = outcome();
  CHECK(result.tasks[0].jobs == 4);
  CHECK(result.tasks[0].misses == 0);
  CHECK(result.tasks[0].finished == 5);
  CHECK(result.tasks[0].worst == 24ms);
}

TEST_CASE_METHOD(TwoTasks, "a job that executes for longer than its budget is an overrun") {
  run_in_time();
  reran(0, 0, 0, 0, 6).execution = 5 * ms + 1;
  CHECK(outcome().tasks[0].overruns == 1);
}

TEST_CASE_METHOD(TwoTasks, "a record that belongs to no planned job is ignored") {
  run_in_time();
  ran(0, 5, 99, 99, 100);
  ran(2, 0, 0, 0, 1);
  ran(-1, 0, 0, 0, 1);
  ran(0, -1, 0, 0, 1);
  CHECK(outcome().tasks[0].finished == 5);
}

}  // namespace run_records_test
