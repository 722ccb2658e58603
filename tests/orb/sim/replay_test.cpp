#include "orb/sim/replay.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <string>

namespace replay_test {

using namespace corelane;
using namespace corelane::sched;
using namespace std::chrono_literals;

namespace {

// A Manager and a CoreScheduler that record what they are told and what they answer, as in the runtime.
class Recording {
 public:
  Recording() {
    options_.cores = {{.id = CoreId{3}}};
    options_.max_tasks = 16;
    trace_.program = "run";
    trace_.options = options_;
    trace_.tracks = {Track{}, {.kind = TrackKind::core, .core = CoreId{3}, .max_tasks = 16, .timer = TimerId{3}}};
  }

  void propose(Duration at, std::uint64_t request, const Contract& contract) {
    const Fact fact = Proposed{.at = Time{at}, .request = JobId{request}, .contract = contract};
    for (const Command& command : decide(manager_, manager(), fact))
      if (const auto* admit = std::get_if<Admit>(&command)) {
        write(scheduler(), trace::TaskAdded{admit->task, admit->contract, admit->priority}, Time{at});
        scheduler_.add(admit->task, admit->contract, admit->priority);
        task_ = admit->task;
      }
  }
  void arrive(Duration at, std::uint64_t job) {
    decide(scheduler_, scheduler(), Arrived{.at = Time{at}, .job = JobId{job}, .task = task_});
    write(scheduler(), trace::Started{Time{at}, JobId{job}, task_}, Time{at});
  }
  void finish(Duration at, std::uint64_t job) {
    decide(scheduler_, scheduler(), Finished{.at = Time{at}, .job = JobId{job}, .task = task_, .used = 1ms});
  }
  void interfere(const PlatformLoad& load) {
    write(manager(), trace::InterferenceSet{CoreId{3}, 1}, Time{});
    write(manager(), trace::InterferenceLoad{load}, Time{});
    manager_.set_interference(CoreId{3}, std::span(&load, 1));
  }
  // Moves the only task away and back.
  void move_and_return(Duration at) {
    write(scheduler(), trace::VacateAsked{Time{at}, task_}, Time{at});
    answer(scheduler(), scheduler_.vacate(Time{at}, task_), Time{at});
    write(scheduler(), trace::TaskTaken{task_}, Time{at});
    const ScheduledTask task = scheduler_.take(task_);
    write(scheduler(), trace::TaskPut{Time{at}, task}, Time{at});
    answer(scheduler(), scheduler_.put(Time{at}, task), Time{at});
  }

  TraceFile& trace() { return trace_; }
  Track& scheduler() { return trace_.tracks[1]; }
  Track& manager() { return trace_.tracks[0]; }

 private:
  template <typename Machine>
  std::span<const Command> decide(Machine& machine, Track& track, const Fact& fact) {
    TraceRecord record;
    encode(fact, record);
    append(track, record);
    return answer(track, machine.decide(fact), time_of(fact));
  }
  std::span<const Command> answer(Track& track, std::span<const Command> commands, Time at) {
    TraceRecord record;
    for (const Command& command : commands) encode(command, at, record), append(track, record);
    return commands;
  }
  template <typename T>
  void write(Track& track, const T& item, Time at) {
    TraceRecord record;
    encode(item, at, record);
    append(track, record);
  }
  static void append(Track& track, const TraceRecord& record) {
    track.words.insert(track.words.end(), record.span().begin(), record.span().end());
  }

  ManagerOptions options_;
  TraceFile trace_;
  Manager manager_{recorded_options()};
  CoreScheduler scheduler_{CoreId{3}, 16, TimerId{3}};
  TaskId task_;

  static ManagerOptions recorded_options() {
    ManagerOptions options;
    options.cores = {{.id = CoreId{3}}};
    options.max_tasks = 16;
    return options;
  }
};

constexpr Contract contract{.period = 10ms, .deadline = 10ms, .budget = 4ms};

Recording busy_run() {
  Recording run;
  run.propose(1ms, 1, contract);
  run.interfere({.budget = 5ms, .period = 10ms});
  run.propose(2ms, 2, contract);  // refused: the other process's load
  run.arrive(5ms, 10);
  run.arrive(6ms, 11);  // an early job
  run.arrive(7ms, 12);  // refused: one job waits already
  run.finish(8ms, 10);
  run.move_and_return(9ms);
  return run;
}

// Returns where the first record of the kind begins in the track, as an index of words.
std::size_t place_of(const Track& track, TraceKind kind) {
  std::size_t place = 0;
  for (const TraceView& record : records_of(track)) {
    if (record.kind == kind) return place;
    place += record.words.size();
  }
  FAIL("no record " << name_of(kind));
  return 0;
}

}  // namespace

TEST_CASE("a recorded run is decided the same again") {
  Recording run = busy_run();
  const auto report = sim::replay(run.trace());
  REQUIRE(report);
  CHECK(report->same());
  REQUIRE(report->tracks.size() == 2);
  CHECK(report->tracks[0].name == "manager");
  CHECK(report->tracks[0].inputs == 4);
  CHECK(report->tracks[0].commands == 2);  // an Admit and a Refuse
  CHECK(report->tracks[1].name == "core 3");
  CHECK(report->tracks[1].commands >= 4);  // Run, Defer, Arm, Refuse, ReportVacated
}

TEST_CASE("an answer that was changed is found with its place") {
  Recording run = busy_run();
  Track& scheduler = run.scheduler();
  scheduler.words[place_of(scheduler, TraceKind::run) + 6] += 1;  // the deadline
  const auto report = sim::replay(run.trace());
  REQUIRE(report);
  CHECK_FALSE(report->same());
  REQUIRE(report->difference);
  CHECK(report->difference->track == "core 3");
  CHECK(report->difference->record == 2);
  CHECK(report->difference->at == Time{5ms});
  CHECK_THAT(report->difference->recorded, Catch::EndsWith("deadline=15000001"));
  CHECK_THAT(report->difference->replayed, Catch::EndsWith("deadline=15000000"));
}

TEST_CASE("a fact that was changed shows in what is answered") {
  Recording run = busy_run();
  Track& manager = run.manager();
  manager.words[place_of(manager, TraceKind::interference_load) + 2] = 1;  // as if the other process used very little
  const auto report = sim::replay(run.trace());
  REQUIRE(report);
  REQUIRE(report->difference);
  CHECK(report->difference->track == "manager");
  CHECK_THAT(report->difference->recorded, Catch::StartsWith("refuse"));
  CHECK_THAT(report->difference->replayed, Catch::StartsWith("admit"));
}

TEST_CASE("an answer that is missing or not asked for is found") {
  Recording run = busy_run();
  Track& scheduler = run.scheduler();
  const std::size_t place = place_of(scheduler, TraceKind::defer);
  const std::vector<std::uint64_t> taken(scheduler.words.begin() + static_cast<std::ptrdiff_t>(place),
                                         scheduler.words.begin() + static_cast<std::ptrdiff_t>(place + 5));
  SECTION("missing") {
    scheduler.words.erase(scheduler.words.begin() + static_cast<std::ptrdiff_t>(place),
                          scheduler.words.begin() + static_cast<std::ptrdiff_t>(place + 5));
    const auto report = sim::replay(run.trace());
    REQUIRE((report && report->difference));
    CHECK_THAT(report->difference->replayed, Catch::StartsWith("defer"));
  }
  SECTION("one too many") {
    scheduler.words.insert(scheduler.words.end(), taken.begin(), taken.end());
    const auto report = sim::replay(run.trace());
    REQUIRE((report && report->difference));
    CHECK(report->difference->replayed == "nothing");
  }
}

TEST_CASE("a track without its beginning is not replayed and says so") {
  Recording run = busy_run();
  run.scheduler().lost = 1;
  const auto report = sim::replay(run.trace());
  REQUIRE(report);
  CHECK_FALSE(report->tracks[1].replayed);
  CHECK(report->tracks[1].lost == 1);
  CHECK(report->same());  // the manager's track was the same
  run.manager().lost = 1;
  CHECK_FALSE(sim::replay(run.trace())->same());
}

TEST_CASE("a record that no run could have is refused with its place") {
  Recording run = busy_run();
  Track& scheduler = run.scheduler();
  scheduler.words[place_of(scheduler, TraceKind::task_added) + 3] = 0;  // the contract's period
  const auto report = sim::replay(run.trace());
  REQUIRE_FALSE(report);
  CHECK_THAT(report.error().text, Catch::StartsWith("record 0 of the track core 3 is none that a run could have"));
}

TEST_CASE("no change of a trace can harm its replay") {
  std::mt19937_64 random(1);
  const auto good = to_bytes(busy_run().trace());
  const auto words_of = [](std::vector<std::byte>& bytes, std::size_t word, std::uint64_t value) {
    for (std::size_t i = 0; i < 8; ++i) bytes[word * 8 + i] = static_cast<std::byte>(value >> 8 * i & 0xff);
  };
  int replayed = 0;
  for (int i = 0; i < 3'000; ++i) {
    auto bytes = good;
    for (std::uint64_t change = random() % 3; change < 3; ++change) {
      const std::uint64_t value = random() % 20 == 0  ? INT64_MAX
                                  : random() % 3 == 0 ? random()
                                  : random() % 2      ? random() % 100
                                                      : random() % (1u << 30);
      words_of(bytes, 13 + random() % (bytes.size() / 8 - 13), value);
    }
    words_of(bytes, 8, crc32c(Bytes(bytes).subspan(72)));
    if (const auto trace = parse_trace(bytes))
      if (sim::replay(*trace)) ++replayed;
  }
  CHECK(replayed > 0);
}

}  // namespace replay_test
