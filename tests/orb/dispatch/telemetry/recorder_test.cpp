#include "orb/dispatch/telemetry/recorder.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>

#include "orb/os/clock.h"
#include "orb/os/fd.h"
#include "orb/os/machine/topology.h"
#include "orb/sim/replay.h"
#include "tests/orb/dispatch/fixture.h"
#include "tests/support/quiet.h"
#include "tests/support/system/captured_errors.h"
#include "tests/support/system/temp_directory.h"

namespace recorder_test {

using namespace corelane;
using namespace corelane::dispatch;
using namespace corelane::dispatch::test;
using namespace std::chrono_literals;
using corelane::testing::CapturedErrors;
using corelane::testing::Quiet;
using corelane::testing::TempDirectory;
using sched::TraceReason;

namespace {

sched::Finished finished(std::uint64_t number) {
  return {.at = Time{Duration{1 + static_cast<std::int64_t>(number)}},
          .job = JobId{number},
          .task = TaskId{number},
          .used = Duration{static_cast<std::int64_t>(number)}};
}

void put(RecorderRing& ring, std::uint64_t number) {
  ring.add(finished(number), {});
  ring.publish();
}

// Returns the job numbers of the records in the ring. Empty if a record is not whole or out of order.
std::vector<std::uint64_t> numbers_in(const RecorderRing& ring) {
  const sched::Track track{.words = ring.copy().words};
  std::vector<std::uint64_t> numbers;
  for (const sched::TraceView& view : records_of(track)) {
    const auto record = sched::decode<sched::Finished>(view);
    const bool whole = record && record->used.count() == static_cast<std::int64_t>(record->job.value) &&
                       (numbers.empty() || numbers.back() + 1 == record->job.value);
    if (!whole) return {};
    numbers.push_back(record->job.value);
  }
  return numbers;
}

std::vector<std::byte> bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

sched::TraceFile trace_at(const std::string& path) {
  auto trace = sched::parse_trace(bytes_of(path));
  if (!trace) FAIL(trace.error().text);
  return std::move(*trace);
}

// Writes as many dumps as there is time for before the process is killed.
[[noreturn]] void dump_and_end(Recorder& recorder, const std::string& directory) {
  for (int left = 200; left > 0; --left)
    if (!recorder.dump(TraceReason::request, directory)) break;
  ::_exit(1);
}

std::size_t count(const sched::TraceFile& trace, sched::TraceKind kind) {
  std::size_t found = 0;
  for (const sched::Track& track : trace.tracks)
    for (const sched::TraceView& view : records_of(track)) found += view.kind == kind ? 1 : 0;
  return found;
}

ExecutiveOptions recording(const TempDirectory& directory, unsigned dump_on_miss = 0) {
  ExecutiveOptions options = bare_options();
  options.recorder = {.size = 1 << 14, .directory = directory.path(), .dump_on_miss = dump_on_miss};
  return options;
}

// Counts its end, whether it ran or was refused.
class CountedJob final : public Job {
 public:
  explicit CountedJob(std::atomic<int>& ended) : ended_(ended) {}
  void run(const JobContext&) noexcept override {}
  void refuse(const sched::Refusal&) noexcept override {}
  void fail(Error) noexcept override {}
  void recycle() noexcept override {
    std::atomic<int>& ended = ended_;
    delete this;
    ++ended;
    ended.notify_all();
  }

 private:
  std::atomic<int>& ended_;
};

// Runs a server with threads, without real-time priorities. Two callers send jobs of two tasks, some of them early.
std::string run_with_threads(const TempDirectory& directory) {
  ExecutiveOptions options = recording(directory);
  options.real_time = false;
  UnguardedCores cores(*os::Topology::detect());
  auto executive = Executive::start(options, cores);
  REQUIRE(executive);
  std::atomic<int> ended{0};
  const auto call = [&](TaskId task) {
    for (int i = 0; i < 20; ++i) {
      JobPtr job(new CountedJob(ended));
      job->task = task;
      job->arrived = os::now();
      if (!(*executive)->submit(job)) ++ended;
    }
  };
  TaskId tasks[2];
  for (TaskId& task : tasks) {
    const auto admitted = (*executive)->admit_and_wait({.contract = make_contract(1ms, 10us), .label = "Plant/step"});
    REQUIRE(admitted);
    task = admitted->task;
  }
  CHECK_FALSE((*executive)->admit_and_wait({.contract = make_contract(10ms, 9900us), .label = "too much"}));
  {
    std::jthread one([&] { call(tasks[0]); }), two([&] { call(tasks[1]); });
  }
  (*executive)->depart(tasks[0]);
  for (int seen = ended.load(); seen < 40; seen = ended.load()) ended.wait(seen);
  const auto path = (*executive)->dump_trace();
  REQUIRE(path);
  return *path;
}

}  // namespace

TEST_CASE("a program is named by its file, and by what it was called where that was removed") {
  CHECK(program_name_of("/opt/plant/controller", "exe") == "controller");
  CHECK(program_name_of("/opt/plant/.mold-a1b2c3 (deleted)", "controller") == "controller");
  CHECK(program_name_of("/opt/plant/controller (deleted)", "exe") == "controller");
  CHECK(program_name_of("", "controller") == "controller");
}

TEST_CASE("records come out of a ring in the order they went in") {
  RecorderRing ring(64);
  CHECK(numbers_in(ring).empty());
  for (std::uint64_t i = 1; i <= 3; ++i) put(ring, i);
  CHECK(numbers_in(ring) == std::vector<std::uint64_t>{1, 2, 3});
  CHECK(ring.copy().lost == 0);
}

TEST_CASE("a full ring keeps the newest records and counts what it lost") {
  RecorderRing ring(64);
  for (std::uint64_t i = 1; i <= 64; ++i) put(ring, i);
  CHECK(ring.copy().lost == 0);
  put(ring, 65);
  CHECK(ring.copy().lost == 1);
  CHECK(numbers_in(ring).front() == 2);
  CHECK(numbers_in(ring).size() == 64);
}

TEST_CASE("a record whose beginning was overwritten goes with it") {
  RecorderRing ring(64);
  ring.add(sched::trace::TaskPut{}, Time{1ms});  // it takes many slots
  for (std::uint64_t i = 1; i <= 63; ++i) put(ring, i);
  CHECK(numbers_in(ring).size() == 63);
}

TEST_CASE("an item that was not published is not seen") {
  RecorderRing ring(64);
  put(ring, 1);
  ring.add(finished(2), {});
  CHECK(numbers_in(ring).size() == 1);
}

TEST_CASE("a reader sees whole records in order while another thread writes") {
  RecorderRing ring(64);
  std::atomic<bool> stop{false};
  std::jthread writer([&] {
    for (std::uint64_t i = 1; !stop.load(); ++i) {
      put(ring, i);
      if (i % 16 == 0) std::this_thread::yield();  // a reader that the writer always overtakes would see nothing
    }
  });
  while (ring.copy().words.empty()) std::this_thread::yield();
  std::size_t mistakes = 0, seen = 0;
  for (int i = 0; i < 2000; ++i) {
    const RecorderRing::Copy copy = ring.copy();
    const sched::Track track{.words = copy.words};
    const auto records = records_of(track);
    std::uint64_t next = copy.lost + 1;  // each record takes one slot
    for (const sched::TraceView& view : records) {
      const auto record = sched::decode<sched::Finished>(view);
      mistakes += !record || record->job.value != next || record->used.count() != static_cast<std::int64_t>(next);
      ++next, ++seen;
    }
  }
  stop = true;
  CHECK(mistakes == 0);
  CHECK(seen > 0);
}

TEST_CASE("a replay makes the decisions of a stepped machine again") {
  const Quiet quiet;
  TempDirectory directory;
  Machine machine(2, recording(directory));
  const TaskId first = machine.admit(make_contract(10ms, 2ms, {}, 0ms));
  const TaskId second = machine.admit(make_contract(20ms, 2ms, {}, 0ms), PeerId{7});
  machine.refused(make_contract(10ms, 9900us));
  machine.send(first, 1ms);
  machine.send(first, 1ms);  // an early job
  machine.send(second, 3ms, PeerId{7});
  machine.settle();
  machine.advance(10ms);
  machine.manager.peer_gone(PeerId{7});
  machine.settle();
  const sched::TraceFile trace = machine.manager.recorder().snapshot(TraceReason::request);
  const auto report = sim::replay(trace);
  REQUIRE(report);
  CHECK(report->same());
  CHECK(report->tracks.size() == 3);
  CHECK(count(trace, sched::TraceKind::admit) == 2);
  CHECK(count(trace, sched::TraceKind::started) == 3);
  CHECK(count(trace, sched::TraceKind::finished) == 3);
  CHECK(count(trace, sched::TraceKind::defer) == 1);
  CHECK(count(trace, sched::TraceKind::overran) >= 1);
  CHECK(count(trace, sched::TraceKind::named) == 2);
  CHECK(count(trace, sched::TraceKind::missed) == 0);
}

TEST_CASE("a job that slept for longer than it declared is in the trace, which is decided the same again") {
  const Quiet quiet;
  const Duration declared = GENERATE(1ms, 3ms);
  TempDirectory directory;
  Machine machine(1, recording(directory));
  Contract contract = make_contract(10ms, 2ms, {}, 0ms);
  contract.suspension = declared;
  contract.on_overrun = OverrunPolicy::demote;
  const TaskId task = machine.admit(contract);
  JobPtr job(new ScriptedJob([](ScriptedJob&) {
    const SuspensionScope asleep;
    virtual_now += 2ms;
  }));
  job->task = task;
  job->arrived = virtual_now;
  REQUIRE(machine.manager.submit(job) == Pushed::done);
  machine.settle();
  const sched::TraceFile trace = machine.manager.recorder().snapshot(TraceReason::request);
  CHECK(count(trace, sched::TraceKind::overslept) == (declared < 2ms ? 1 : 0));
  CHECK(count(trace, sched::TraceKind::overran) == 0);
  for (const sched::Track& track : trace.tracks)
    for (const sched::TraceView& record : records_of(track))
      if (const auto overslept = sched::decode<sched::trace::Overslept>(record)) {
        CHECK(overslept->task == task);
        CHECK(overslept->slept == 2ms);
      }
  const auto report = sim::replay(trace);
  REQUIRE(report);
  CHECK(report->same());
}

TEST_CASE("a replay makes the decisions of threads again, and finds a changed record") {
  const Quiet quiet;
  TempDirectory directory;
  sched::TraceFile trace = trace_at(run_with_threads(directory));
  const auto report = sim::replay(trace);
  REQUIRE(report);
  if (report->difference) FAIL(report->difference->recorded << " | " << report->difference->replayed);
  CHECK(report->same());
  for (const sim::ReplayedTrack& track : report->tracks) CHECK(track.replayed);
  CHECK(count(trace, sched::TraceKind::refuse) >= 1);
  for (sched::Track& track : trace.tracks) {
    std::size_t place = 0;
    for (const sched::TraceView& view : records_of(track)) {
      if (view.kind == sched::TraceKind::run) break;
      place += view.words.size();
    }
    if (place == track.words.size()) continue;
    track.words[place + 5] += 1;  // the release of the first job
    break;
  }
  const auto tampered = sim::replay(trace);
  REQUIRE(tampered);
  REQUIRE(tampered->difference);
  CHECK_THAT(tampered->difference->recorded, Catch::StartsWith("run"));
}

TEST_CASE("a trace takes no name that another one has") {
  const Quiet quiet;
  TempDirectory directory;
  Machine machine(1, recording(directory));
  Recorder& recorder = machine.manager.recorder();
  const auto name = [&](int number) {
    return directory.path() + "/" + program_name() + "-" + std::to_string(::getpid()) + "-request-" +
           std::to_string(number) + ".cltrace";
  };
  std::ofstream(name(1)) << "of a process that had our pid";
  const auto path = recorder.dump(TraceReason::request, directory.path());
  REQUIRE(path);
  CHECK(*path == name(2));
  CHECK(std::filesystem::file_size(name(1)) == 29);
  CHECK(directory.entries() == 2);
}

TEST_CASE("a process that is killed while it writes traces leaves whole ones alone") {
  const Quiet quiet;
  TempDirectory directory;
  if (!os::Fd(::open(directory.path().c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600))) {
    std::cout << "SKIPPED: this file system has no files without a name\n";
    return;
  }
  Machine machine(1, recording(directory));
  for (int round = 0; round < 20; ++round) {
    const std::size_t before = directory.entries();
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) dump_and_end(machine.manager.recorder(), directory.path());
    while (directory.entries() == before && ::waitpid(child, nullptr, WNOHANG) == 0) std::this_thread::yield();
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    CHECK(directory.entries() > before);
  }
  for (const auto& entry : std::filesystem::directory_iterator(directory.path()))
    CHECK(trace_at(entry.path().string()).reason == TraceReason::request);
}

TEST_CASE("misses leave as many files as configured, at a distance") {
  const Quiet quiet;
  TempDirectory directory;
  Machine machine(1, recording(directory, 2));
  Recorder& recorder = machine.manager.recorder();
  const TaskId task = machine.admit(make_contract(100ms, 1ms, 10ms, 0ms));
  const auto miss = [&] {
    machine.send(task, 11ms);
    machine.settle();
    machine.advance(100ms);
  };
  recorder.step(virtual_now);
  CHECK(directory.entries() == 0);
  miss();
  recorder.step(virtual_now);
  CHECK(directory.entries() == 1);
  miss();
  recorder.step(virtual_now);
  CHECK(directory.entries() == 1);  // too soon after the first
  virtual_now += 11s;
  recorder.step(virtual_now);
  CHECK(directory.entries() == 2);
  virtual_now += 11s;
  miss();
  recorder.step(virtual_now);
  CHECK(directory.entries() == 2);  // the limit is reached
  const auto first = *std::filesystem::directory_iterator(directory.path());
  const sched::TraceFile trace = trace_at(first.path().string());
  CHECK(trace.reason == TraceReason::miss);
  CHECK(count(trace, sched::TraceKind::missed) >= 1);
}

TEST_CASE("a process that puts a request into the runtime directory gets a dump") {
  const Quiet quiet;
  TempDirectory directory;
  ExecutiveOptions options = recording(directory);
  options.recorder.runtime_directory = directory.path();
  Machine machine(1, options);
  std::ofstream(dump_request(directory.path(), ::getpid())).close();
  CHECK(machine.manager.recorder().step(virtual_now));
  std::ifstream answer(dump_answer(directory.path(), ::getpid()));
  std::string path;
  REQUIRE(std::getline(answer, path));
  CHECK(trace_at(path).reason == TraceReason::request);
  CHECK_FALSE(std::filesystem::exists(dump_request(directory.path(), ::getpid())));
  CHECK_FALSE(machine.manager.recorder().step(virtual_now));
}

TEST_CASE("a trace of the whole run is left at the end where that is configured") {
  const Quiet quiet;
  TempDirectory directory;
  ExecutiveOptions options = recording(directory);
  options.real_time = false;
  options.recorder.dump_at_exit = true;
  UnguardedCores cores(*os::Topology::detect());
  auto executive = Executive::start(options, cores);
  REQUIRE(executive);
  REQUIRE((*executive)->admit_and_wait({.contract = make_contract(10ms, 1ms), .label = "task"}));
  (*executive)->stop();
  REQUIRE(directory.entries() == 1);
  const sched::TraceFile trace = trace_at(std::filesystem::directory_iterator(directory.path())->path().string());
  CHECK(trace.reason == TraceReason::exit);
  CHECK(sim::replay(trace)->same());
}

// Error paths.

TEST_CASE("a server that records nothing refuses to dump and says so") {
  const Quiet quiet;
  ExecutiveOptions options = bare_options();
  options.recorder.size = 0;
  Machine machine(1, options);
  machine.send(machine.admit(make_contract(10ms, 1ms)), 20ms);
  machine.settle();
  const auto path = machine.manager.recorder().dump(TraceReason::request);
  REQUIRE_FALSE(path);
  CHECK(path.error().kind == ErrorKind::bad_param);
}

TEST_CASE("traces that are asked for and could not be written are told of at the start") {
  TempDirectory directory;
  ExecutiveOptions options = recording(directory, 1);
  const CapturedErrors errors;
  SECTION("they can") {
    options.recorder.directory = directory / "made";
    const Machine machine(1, options);
    CHECK(errors.times("recorder.") == 0);
  }
  SECTION("nothing is recorded") {
    options.recorder.size = 0;
    const Machine machine(1, options);
    CHECK(errors.times("leave recorder.size as it is") == 1);
  }
  SECTION("files above the directory are not visible") {
    options.recorder.directory = directory / "absent/made";
    const Machine machine(1, options);
    CHECK(errors.times("before there is a directory " + (directory / "absent")) == 1);
  }
}

TEST_CASE("a directory that cannot be written is an error, and nothing is left there") {
  const Quiet quiet;
  TempDirectory directory;
  const std::string file = directory / "file";
  std::ofstream(file).close();
  Machine machine(1, recording(directory));
  const auto path = machine.manager.recorder().dump(TraceReason::request, file);
  REQUIRE_FALSE(path);
  CHECK(path.error().kind == ErrorKind::persist_store);
  CHECK(directory.entries() == 1);
}

}  // namespace recorder_test
