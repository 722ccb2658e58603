// Tests the MulticoreSimulator by published examples and by schedules that are drawn by hand. Times are nanoseconds.
// multicore_oracle_test.cpp compares it with a naive simulator.
#include "orb/sim/multicore_simulator.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "orb/sched/analysis/global.h"
#include "orb/sched/analysis/splitting.h"
#include "orb/sim/workload.h"

namespace multicore_simulator_test {

using namespace corelane;
using namespace corelane::sim;
using namespace std::chrono_literals;

namespace {

struct Spec {
  std::int64_t budget;
  std::int64_t period;  // and deadline
  std::int64_t offset = 0;
};
using Specs = std::vector<Spec>;
using Durations = std::vector<Duration>;

Time at(std::int64_t time) { return Time{Duration{time}}; }

Durations in_ns(const std::vector<std::int64_t>& values) {
  Durations result;
  for (const std::int64_t value : values) result.push_back(Duration{value});
  return result;
}

// Returns tasks by descending priority, on core 0.
std::vector<MulticoreTask> tasks_of(const Specs& specs) {
  std::vector<MulticoreTask> tasks;
  std::int32_t priority = 1000;
  for (const Spec& spec : specs) tasks.push_back({.deadline = Duration{spec.period}, .priority = Priority{priority--}});
  return tasks;
}

PatternJobs jobs_of(const Specs& specs) {
  std::vector<JobPattern> patterns;
  for (const Spec& spec : specs)
    patterns.push_back(
        {.period = Duration{spec.period}, .offset = Duration{spec.offset}, .demand = Duration{spec.budget}});
  return PatternJobs(std::move(patterns));
}

MulticoreOptions global(std::int32_t cores, Order order) { return {.cores = cores, .cluster = cores, .order = order}; }

Durations worst_responses(const MulticoreOptions& options, const Specs& specs, std::int64_t until) {
  PatternJobs source = jobs_of(specs);
  MulticoreSimulator simulator(options, tasks_of(specs), source);
  simulator.run(at(until));
  Durations worst;
  for (std::size_t task = 0; task < specs.size(); ++task) worst.push_back(simulator.responses(task).worst);
  return worst;
}

std::uint64_t misses_of(const MulticoreSimulator& simulator) {
  std::uint64_t misses = 0;
  for (std::size_t task = 0; task < simulator.size(); ++task) misses += simulator.responses(task).misses;
  return misses;
}

std::uint64_t misses(const MulticoreOptions& options, const std::vector<MulticoreTask>& tasks, JobSource& source,
                     Time until) {
  MulticoreSimulator simulator(options, tasks, source);
  simulator.run(until);
  return misses_of(simulator);
}

std::uint64_t misses(const MulticoreOptions& options, const Specs& specs, std::int64_t until) {
  PatternJobs source = jobs_of(specs);
  return misses(options, tasks_of(specs), source, at(until));
}

class Recorder final : public JobObserver {
 public:
  void finished(const FinishedJob& job) override { jobs.push_back(job); }
  void executed(const ExecutedSlice& slice) override { slices.push_back(slice); }
  std::vector<FinishedJob> jobs;
  std::vector<ExecutedSlice> slices;
};

// Simulates a trace until all its jobs have ended. Returns the jobs in the order of their ends.
std::vector<FinishedJob> finished(const MulticoreOptions& options, const std::vector<MulticoreTask>& tasks,
                                  std::vector<std::vector<JobRelease>> trace) {
  ListedJobs source(std::move(trace));
  Recorder recorder;
  MulticoreSimulator simulator(options, tasks, source, &recorder);
  simulator.run(at(1'000'000));
  return recorder.jobs;
}

// Returns a task of priority `priority` with one job, and that job.
MulticoreTask one_job(std::int32_t priority) { return {.deadline = 1ms, .priority = Priority{priority}}; }
std::vector<JobRelease> job(std::int64_t release, std::int64_t demand) {
  return {{.nominal = at(release), .demand = Duration{demand}}};
}

std::vector<std::vector<JobRelease>> first_jobs(const Specs& specs, int count) {
  PatternJobs source = jobs_of(specs);
  std::vector<std::vector<JobRelease>> jobs(specs.size());
  for (std::size_t task = 0; task < specs.size(); ++task)
    for (int i = 0; i < count; ++i) jobs[task].push_back(source.next(task).value());
  return jobs;
}

Specs with_offsets(Specs specs, Random& random) {
  for (Spec& spec : specs) spec.offset = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(spec.period));
  return specs;
}

}  // namespace

// ---- Published examples -------------------------------------------------------------------------------------------

TEST_CASE("fixed priorities on one core give the published worst responses") {
  const Specs specs{{1, 4}, {1, 5}, {3, 9}, {3, 18}};
  CHECK(worst_responses({.order = Order::priority}, specs, 180) == in_ns({1, 2, 7, 18}));
}

TEST_CASE("a task with a backlog gives the published responses of its successive jobs") {
  const Specs specs{{26, 70}, {62, 100}};
  PatternJobs source = jobs_of(specs);
  Recorder recorder;
  MulticoreSimulator simulator({.order = Order::priority}, tasks_of(specs), source, &recorder);
  simulator.run(at(699));
  Durations responses;
  for (const FinishedJob& finished_job : recorder.jobs)
    if (finished_job.task == 1) responses.push_back(finished_job.finish - finished_job.release);
  CHECK(responses == in_ns({114, 102, 116, 104, 118, 106, 94}));
}

TEST_CASE("earliest deadline first gives the published worst responses over all offsets") {
  Durations worst(2);
  for (std::int64_t first = 0; first < 12; ++first)
    for (std::int64_t second = 0; second < 4; ++second) {
      const Durations responses = worst_responses({.order = Order::deadline}, {{3, 12, first}, {2, 4, second}}, 60);
      for (std::size_t i = 0; i < 2; ++i) worst[i] = std::max(worst[i], responses[i]);
    }
  CHECK(worst == in_ns({7, 2}));
}

TEST_CASE("global fixed priorities keep to the published bounds, and reach those of the first three tasks") {
  const Specs specs{{1, 4}, {1, 5}, {3, 9}, {9, 18}};
  const std::array<sched::SporadicTask, 4> analyzed{{{1, 4, 4}, {1, 5, 5}, {3, 9, 9}, {9, 18, 18}}};
  const std::int32_t cores = GENERATE(2, 3);
  CAPTURE(cores);
  std::array<sched::Ticks, 4> bounds{};
  REQUIRE(sched::global_response_times(analyzed, cores, bounds));
  REQUIRE(bounds == (cores == 2 ? std::array<sched::Ticks, 4>{1, 1, 4, 15} : std::array<sched::Ticks, 4>{1, 1, 3, 12}));
  Random random(1);
  Durations worst = worst_responses(global(cores, Order::priority), specs, 180);
  for (int i = 0; i < 1'000; ++i) {
    const Durations responses = worst_responses(global(cores, Order::priority), with_offsets(specs, random), 400);
    for (std::size_t task = 0; task < 4; ++task) worst[task] = std::max(worst[task], responses[task]);
  }
  for (std::size_t task = 0; task < 3; ++task) CHECK(worst[task] == Duration{bounds[task]});
  CHECK(worst[3] <= Duration{bounds[3]});
  CHECK(worst[3] >= Duration{9});
}

TEST_CASE("Dhall's effect: global scheduling misses a deadline that a core for each task would keep") {
  // Four light tasks of 2 %, released with a heavy task of 99 % whose deadline is a little later.
  const Specs specs{{2, 100}, {2, 100}, {2, 100}, {2, 100}, {100, 101}};
  CHECK(misses(global(4, Order::deadline), specs, 101) == 1);
  CHECK(misses(global(4, Order::priority), specs, 101) == 1);
  auto tasks = tasks_of(specs);
  for (std::size_t i = 0; i < 4; ++i) tasks[i].core = CoreId{static_cast<std::int16_t>(i % 3)};
  tasks[4].core = CoreId{3};
  PatternJobs source = jobs_of(specs);
  CHECK(misses({.cores = 4, .order = Order::deadline}, tasks, source, at(10'100)) == 0);
}

TEST_CASE("three tasks of two thirds keep their deadlines on two cores only if one is split") {
  const Specs specs{{66, 100}, {66, 100}, {66, 100}};
  auto tasks = tasks_of(specs);
  tasks[1].core = CoreId{1};
  const MulticoreOptions options{.cores = 2, .order = Order::deadline};
  PatternJobs unsplit = jobs_of(specs);
  CHECK(misses(options, tasks, unsplit, at(1'000)) > 0);

  const std::array<sched::EdfTask, 1> resident{sched::EdfTask{66, 100, 100}};
  const std::array<std::span<const sched::EdfTask>, 2> cores{resident, resident};
  std::array<sched::SplitPart, 2> parts{};
  const sched::Split split = sched::split(cores, {66, 100, 100}, parts);
  REQUIRE(split.count == 2);
  for (const sched::SplitPart& part : parts)
    tasks[2].parts.push_back({.core = CoreId{static_cast<std::int16_t>(part.core)},
                              .budget = Duration{part.part.budget},
                              .offset = Duration{part.offset},
                              .deadline = Duration{part.part.deadline}});
  PatternJobs source = jobs_of(specs);
  CHECK(misses(options, tasks, source, at(100'000)) == 0);
}

TEST_CASE("global deadlines are kept up to the bound of Goossens, Funk and Baruah") {
  Random random(1);
  for (int i = 0; i < 200; ++i) {
    CAPTURE(i);
    const std::int32_t cores = 2 + i % 3;
    const double largest = 0.2 + 0.6 * uniform(random);
    Specs specs;
    double room = cores - (cores - 1) * largest;
    while (room > 0.01) {
      const auto period = static_cast<std::int64_t>(100 + random() % 900);
      const double u = std::min(room, specs.empty() ? largest : largest * uniform(random));
      specs.push_back({std::max<std::int64_t>(1, static_cast<std::int64_t>(u * static_cast<double>(period))), period});
      room -= static_cast<double>(specs.back().budget) / static_cast<double>(period);
    }
    if (room < 0) specs.pop_back();
    REQUIRE(misses(global(cores, Order::deadline), specs, 5'000) == 0);
    REQUIRE(misses(global(cores, Order::deadline), with_offsets(specs, random), 5'000) == 0);
  }
}

// ---- The rules ----------------------------------------------------------------------------------------------------

TEST_CASE("a job that ends at an instant is not preempted by one that is released then") {
  const auto jobs = finished({}, {one_job(1), one_job(2)}, {job(0, 4), job(4, 3)});
  REQUIRE(jobs.size() == 2);
  CHECK(jobs[0].finish == at(4));
  CHECK(jobs[0].preemptions == 0);
  CHECK(jobs[1].start == at(4));
}

TEST_CASE("of jobs with equal priorities, the one released first runs first, then that of the lower index") {
  const auto jobs = finished({}, {one_job(1), one_job(1), one_job(1)}, {job(1, 2), job(1, 2), job(0, 2)});
  REQUIRE(jobs.size() == 3);
  CHECK(jobs[0].task == 2);
  CHECK(jobs[1].task == 0);
  CHECK(jobs[2].task == 1);
}

TEST_CASE("a preempted job continues on the first core that is idle, which counts as a migration") {
  // Tasks 0 and 1 begin on cores 0 and 1. Task 2 preempts the less urgent one at 2. Core 0 is idle at 3.
  const auto jobs =
      finished(global(2, Order::priority), {one_job(2), one_job(1), one_job(3)}, {job(0, 3), job(0, 5), job(2, 4)});
  REQUIRE(jobs.size() == 3);
  CHECK(jobs[1].task == 1);
  CHECK(jobs[1].finish == at(6));
  CHECK(jobs[1].core == CoreId{0});
  CHECK(jobs[1].preemptions == 1);
  CHECK(jobs[1].migrations == 1);
  CHECK(jobs[2].core == CoreId{1});
}

TEST_CASE("a preempted job returns to its core if this is idle, too") {
  // Both preempting jobs end at 4.
  const auto jobs = finished(global(2, Order::priority), {one_job(2), one_job(1), one_job(3), one_job(4)},
                             {job(0, 5), job(0, 5), job(2, 2), job(2, 2)});
  REQUIRE(jobs.size() == 4);
  CHECK(jobs[2].finish == at(7));
  CHECK(jobs[2].core == CoreId{0});
  CHECK(jobs[3].core == CoreId{1});
  CHECK(jobs[3].migrations == 0);
}

TEST_CASE("jobs of a task run one after the other, also if cores are idle") {
  const auto jobs = finished(global(2, Order::deadline), {one_job(1)}, {{{at(0), 0ns, 3ns}, {at(1), 0ns, 3ns}}});
  REQUIRE(jobs.size() == 2);
  CHECK(jobs[1].start == at(3));
  CHECK(jobs[1].finish == at(6));
}

TEST_CASE("a job that is late by jitter counts its response from its nominal release") {
  const auto jobs = finished({}, {one_job(1)}, {{{at(10), 4ns, 3ns}}});
  REQUIRE(jobs.size() == 1);
  CHECK(jobs[0].release == at(10));
  CHECK(jobs[0].arrival == at(14));
  CHECK(jobs[0].finish == at(17));
  CHECK(jobs[0].deadline == at(10) + 1ms);
}

TEST_CASE("a job that arrives out of order arrives together with its predecessor") {
  const auto jobs = finished({}, {one_job(1)}, {{{at(0), 9ns, 1ns}, {at(5), 0ns, 1ns}}});
  REQUIRE(jobs.size() == 2);
  CHECK(jobs[1].arrival == at(9));
}

TEST_CASE("jobs without demand end when they are dispatched") {
  const auto jobs = finished({}, {one_job(1), one_job(2)}, {job(0, 0), job(0, 3)});
  REQUIRE(jobs.size() == 2);
  CHECK(jobs[0].task == 1);
  CHECK(jobs[1].start == at(3));
  CHECK(jobs[1].finish == at(3));
}

TEST_CASE("unfinished jobs whose deadlines are over count as misses") {
  const Specs specs{{3, 2}};
  PatternJobs source = jobs_of(specs);
  MulticoreSimulator simulator({}, tasks_of(specs), source);
  simulator.run(at(6));  // ended at 3 and 6; the job of 4 has its deadline at 6, that of 6 at 8
  const TaskResponses responses = simulator.responses(0);
  CHECK(responses.jobs == 2);
  CHECK(responses.misses == 3);
  CHECK(responses.unfinished == 2);
  CHECK(responses.worst == 4ns);
  CHECK(responses.sum == 7ns);
}

TEST_CASE("the parts of a split job run one after the other, no earlier than their offsets") {
  MulticoreTask task{.deadline = 100ns};
  task.parts = {{.core = CoreId{1}, .budget = 3ns, .deadline = 3ns},
                {.core = CoreId{0}, .budget = 2ns, .offset = 5ns, .deadline = 7ns},
                {.core = CoreId{1}, .budget = 1ns, .deadline = 100ns}};
  const MulticoreOptions options{.cores = 2, .order = Order::deadline};
  const auto jobs = finished(options, {task}, {{{at(0), 0ns, 9ns}, {at(20), 0ns, 3ns}}});
  REQUIRE(jobs.size() == 2);
  CHECK(jobs[0].finish == at(11));  // [0, 3) on core 1, [5, 7) on core 0, and all the rest on core 1
  CHECK(jobs[0].migrations == 2);
  CHECK(jobs[1].finish == at(23));  // it needs no second part
  CHECK(jobs[1].migrations == 0);
}

// ---- Overheads ----------------------------------------------------------------------------------------------------

TEST_CASE("a dispatch and the return of a preempted job take their overheads") {
  MulticoreOptions options;
  options.overheads = {.dispatch = 1ns, .preemption = 2ns};
  ListedJobs source(std::vector{job(3, 2), job(0, 5)});
  Recorder recorder;
  MulticoreSimulator simulator(options, std::vector{one_job(2), one_job(1)}, source, &recorder);
  simulator.run(at(100));
  REQUIRE(recorder.jobs.size() == 2);
  CHECK(recorder.jobs[0].finish == at(6));   // dispatched at 3
  CHECK(recorder.jobs[1].finish == at(12));  // 2 of 5 done at 3; 1 and 2 of overhead, and 3 of execution from 6 on
  CHECK(simulator.overhead(OverheadKind::dispatch) == OverheadUse{3, 3ns});
  CHECK(simulator.overhead(OverheadKind::preemption) == OverheadUse{1, 2ns});
  CHECK(simulator.overhead(OverheadKind::migration) == OverheadUse{});
  CHECK(simulator.overhead(OverheadKind::hop) == OverheadUse{2, 0ns});
  CHECK(simulator.busy(CoreId{0}) == 12ns);
}

TEST_CASE("a load of the platform has no overheads, and the job that it preempts has them") {
  MulticoreOptions options;
  options.overheads = {.release = 1ns, .dispatch = 1ns, .hop = 4ns, .preemption = 2ns};
  ListedJobs source(std::vector{job(10, 2), job(0, 9)});
  Recorder recorder;
  std::vector tasks{one_job(2), one_job(1)};
  tasks[0].is_load = true;
  MulticoreSimulator simulator(options, tasks, source, &recorder);
  simulator.run(at(100));
  REQUIRE(recorder.jobs.size() == 2);
  CHECK(recorder.jobs[0].finish == at(12));
  CHECK(recorder.jobs[1].finish == at(20));  // 1, 1 and 4 of overhead, 4 of 9 done at 10; 1 and 2, and 5 from 12 on
  CHECK(simulator.overhead(OverheadKind::hop) == OverheadUse{1, 4ns});
}

TEST_CASE("the hand-off is paid once per job, the migration by each job that continues elsewhere") {
  MulticoreOptions options = global(2, Order::priority);
  options.overheads = {.hop = 1ns, .migration = 10ns};
  const auto jobs = finished(options, {one_job(2), one_job(1), one_job(3)}, {job(0, 3), job(0, 5), job(2, 4)});
  REQUIRE(jobs.size() == 3);
  CHECK(jobs[0].finish == at(4));
  CHECK(jobs[1].finish == at(7));
  CHECK(jobs[2].finish == at(4 + 10 + 4));  // 1 + 1 done at 2; it continues on core 0 at 4
}

TEST_CASE("the interrupt of a release stops what its core runs, and a later one waits for it") {
  MulticoreOptions options;
  options.overheads = {.release = 2ns};
  const auto jobs = finished(options, {one_job(2), one_job(1), one_job(0)}, {job(0, 5), job(3, 1), job(4, 1)});
  REQUIRE(jobs.size() == 3);
  CHECK(jobs[0].finish == at(11));  // interrupts [0, 2), [3, 5) and [5, 7)
  CHECK(jobs[1].finish == at(12));
}

TEST_CASE("random overheads are those of the seed, and within their limits") {
  const Specs specs{{10, 100}, {20, 150}};
  const auto used = [&](std::uint64_t seed) {
    MulticoreOptions options{.seed = seed};
    options.overheads.dispatch = DurationDistribution::of_quantiles({1ns, 5ns});
    PatternJobs source = jobs_of(specs);
    MulticoreSimulator simulator(options, tasks_of(specs), source);
    simulator.run(at(100'000));
    return std::pair(simulator.overhead(OverheadKind::dispatch), simulator.trace_hash());
  };
  CHECK(used(1) == used(1));
  CHECK(used(1).second != used(2).second);
  CHECK(used(1).first.total > used(1).first.count * 2ns);
  CHECK(used(1).first.total < used(1).first.count * 4ns);
}

// ---- Observation --------------------------------------------------------------------------------------------------

TEST_CASE("the slices of all jobs are their demands and overheads, one job per core at a time") {
  const Specs specs{{30, 100}, {40, 120}, {50, 130}, {60, 170}, {20, 90}};
  MulticoreOptions options = global(2, Order::deadline);
  options.overheads = {.dispatch = 1ns, .hop = 2ns, .preemption = 3ns, .migration = 4ns};
  ListedJobs source(first_jobs(specs, 200));
  Recorder recorder;
  MulticoreSimulator simulator(options, tasks_of(specs), source, &recorder);
  simulator.run(at(1'000'000));
  Duration executed{};
  std::array<Time, 2> free_from{};
  for (const ExecutedSlice& slice : recorder.slices) {
    Time& free = free_from.at(static_cast<std::size_t>(slice.core.value));
    REQUIRE(slice.begin >= free);
    REQUIRE(slice.end > slice.begin);
    free = slice.end;
    executed += slice.end - slice.begin;
  }
  CHECK(executed == simulator.busy(CoreId{0}) + simulator.busy(CoreId{1}));
  Duration expected{};
  for (const FinishedJob& ended : recorder.jobs) expected += ended.demand;
  for (const OverheadInfo& info : overhead_infos) expected += simulator.overhead(info.kind).total;
  CHECK(executed == expected);
  CHECK(recorder.jobs.size() == 1'000);
  CHECK(simulator.finished_jobs() == 1'000);
  CHECK(simulator.overhead(OverheadKind::migration).count > 0);
}

TEST_CASE("a simulation in two pieces is that in one piece") {
  const Specs specs{{3, 10}, {5, 13}, {9, 17}};
  const auto hash_of = [&](const std::vector<std::int64_t>& stops) {
    PatternJobs source = jobs_of(specs);
    MulticoreSimulator simulator(global(2, Order::deadline), tasks_of(specs), source);
    for (const std::int64_t stop : stops) simulator.run(at(stop));
    CHECK(simulator.now() == at(stops.back()));
    return simulator.trace_hash();
  };
  CHECK(hash_of({1000}) == hash_of({500, 500, 1000}));
  CHECK(hash_of({1000}) != hash_of({999}));
}

TEST_CASE("the trace hash is the same on every machine") {
  PatternJobs source = jobs_of({{1, 4}});
  MulticoreSimulator simulator({}, tasks_of({{1, 4}}), source);
  CHECK(simulator.trace_hash() == 0xcbf2'9ce4'8422'2325);  // FNV-1a of nothing
  simulator.run(at(0));
  const std::uint64_t hash = simulator.trace_hash();
  // FNV-1a over the words 0 (time) and 1 (a release of task 0 at core 0), then 0 and 2 (its dispatch).
  std::uint64_t expected = 0xcbf2'9ce4'8422'2325;
  for (const std::uint64_t word : std::array<std::uint64_t, 4>{0, 1, 0, 2})
    for (int byte = 0; byte < 8; ++byte) expected = (expected ^ (word >> (8 * byte) & 0xff)) * 0x100'0000'01b3;
  CHECK(hash == expected);
}

// ---- Limits and faults --------------------------------------------------------------------------------------------

TEST_CASE("a hundred thousand tasks run on a thousand cores, partitioned and global") {
  constexpr std::size_t count = 100'000;
  std::vector<JobPattern> patterns(count);
  std::vector<MulticoreTask> tasks(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Duration period = 10ms + static_cast<std::int64_t>(i % 91) * 1ms;
    patterns[i] = {.period = period, .demand = period / 200};  // half of each core
    tasks[i] = {.deadline = period, .core = CoreId{static_cast<std::int16_t>(i % 1000)}};
  }
  const std::int32_t cluster = GENERATE(1, 1000);
  PatternJobs source(patterns);
  MulticoreSimulator simulator({.cores = 1000, .cluster = cluster, .order = Order::deadline}, tasks, source);
  simulator.run(Time{20ms});
  CHECK(simulator.finished_jobs() > 50'000);
  CHECK(misses_of(simulator) == 0);
}

TEST_CASE("a fault of the platform or a task names the value and the remedy") {
  const auto fault = [](const MulticoreOptions& options, const MulticoreTask& task) {
    return fault_of(options, std::span(&task, 1)).value_or("");
  };
  const MulticoreTask good{.deadline = 1ms};
  CHECK(fault({}, good).empty());
  CHECK(fault({.cores = 0}, good) == "the platform has 0 cores: give 1 to 32767");
  CHECK(fault({.cores = 40'000}, good) == "the platform has 40000 cores: give 1 to 32767");
  CHECK(fault({.cores = 4, .cluster = 3}, good) == "a cluster has 3 cores: give a divisor of the number of cores, 4");
  CHECK(fault({}, {}) == "task 0 has the deadline 0ns: give more than 0, and at most a year");
  CHECK(fault({.cores = 2}, {.deadline = 1ms, .core = CoreId{2}}) == "task 0 is on core 2: give 0 to 1");
  MulticoreTask split{.deadline = 1ms, .parts = {{.budget = 1ms, .deadline = 1ms}, {.deadline = 1ms}}};
  CHECK(fault({}, split) == "task 0 has a part 1 that has the budget 0ns: give more than 0");
  split.parts[1].budget = 1ms;
  CHECK(fault({}, split).empty());
  CHECK(fault({.cores = 2, .cluster = 2}, split) ==
        "task 0 has a part 0 that needs clusters of one core: set cluster to 1, or do not split the task");
  split.parts[1].offset = -1ns;
  CHECK(fault({}, split) == "task 0 has a part 1 that has the offset -1ns: give 0 to a year");
}

}  // namespace multicore_simulator_test
