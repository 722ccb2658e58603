#include "services/corelane/trace/trace.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "orb/base/peer.h"
#include "orb/dispatch/counter_page.h"
#include "orb/dispatch/executive.h"
#include "orb/dispatch/leases/host_ledger.h"
#include "orb/dispatch/recorder_options.h"
#include "orb/os/file_lock.h"
#include "orb/os/log.h"
#include "orb/os/machine/topology.h"
#include "orb/os/process/child_process.h"
#include "orb/sched/trace/trace_file.h"
#include "services/corelane/trace/perfetto.h"
#include "services/corelane/trace/protobuf.h"
#include "tests/services/corelane/trace/recording.h"
#include "tests/support/peers/stop_process.h"
#include "tests/support/perfetto_schema.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane;
using namespace corelane::sched;
using namespace std::chrono_literals;
using corelane::testing::can_decode_traces;
using corelane::testing::Recording;
using corelane::testing::TempDirectory;

namespace {

// An independent reader of Protocol Buffers. Reads the fields of one message in their order.
struct Field {
  std::uint32_t number = 0;
  std::uint64_t value = 0;     // of a varint or 64 bit field
  std::string_view content{};  // of a field with a length
};

std::vector<Field> fields_of(std::string_view bytes) {
  std::vector<Field> fields;
  const auto varint = [&] {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      REQUIRE(!bytes.empty());
      const auto byte = static_cast<unsigned char>(bytes.front());
      bytes.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (!bytes.empty()) {
    const std::uint64_t key = varint();
    Field field{.number = static_cast<std::uint32_t>(key >> 3)};
    if ((key & 7) == 0) {
      field.value = varint();
    } else if ((key & 7) == 1) {
      REQUIRE(bytes.size() >= 8);
      for (int i = 7; i >= 0; --i)
        field.value = field.value << 8 | static_cast<unsigned char>(bytes[static_cast<std::size_t>(i)]);
      bytes.remove_prefix(8);
    } else {
      REQUIRE((key & 7) == 2);
      const std::uint64_t size = varint();
      REQUIRE(size <= bytes.size());
      field.content = bytes.substr(0, size);
      bytes.remove_prefix(size);
    }
    fields.push_back(field);
  }
  return fields;
}

Field only(std::string_view message, std::uint32_t number) {
  std::vector<Field> found;
  for (const Field& field : fields_of(message))
    if (field.number == number) found.push_back(field);
  if (found.size() != 1) FAIL("field " << number << " stands there " << found.size() << " times");
  return found.front();
}

bool has(std::string_view message, std::uint32_t number) {
  for (const Field& field : fields_of(message))
    if (field.number == number) return true;
  return false;
}

// What a viewer would show: "name of the track: event @ microsecond".
struct Shown {
  std::vector<std::string> events;
  std::map<std::uint64_t, std::string> tracks;
  std::map<std::uint64_t, int> open;  // open slices
  std::uint64_t clocks = 0;
};

void show_event(Shown& shown, std::string_view packet) {
  const std::string_view event = only(packet, 11).content;
  CHECK(only(packet, 58).value == 3);  // the monotonic clock
  const std::uint64_t track = only(event, 11).value, type = only(event, 9).value;
  CHECK(shown.tracks.contains(track));
  std::string text = shown.tracks[track] + ": ";
  if (type == 1) ++shown.open[track], text += "begin " + std::string(only(event, 23).content);
  if (type == 2) {
    CHECK(--shown.open[track] >= 0);
    text += "end";
  }
  if (type == 3) text += std::string(only(event, 23).content);
  if (type == 4) text += std::to_string(static_cast<int>(std::bit_cast<double>(only(event, 44).value)));
  shown.events.push_back(text + " @" + std::to_string(only(packet, 8).value / 1000));
}

Shown show(std::string_view trace) {
  Shown shown;
  bool first = true;
  for (const Field& field : fields_of(trace)) {
    CHECK(field.number == 1);
    CHECK(only(field.content, 10).value == 1);
    if (std::exchange(first, false)) CHECK(only(field.content, 13).value == 1);
    if (has(field.content, 6)) shown.clocks = fields_of(only(field.content, 6).content).size();
    if (has(field.content, 60)) {
      const std::string_view track = only(field.content, 60).content;
      shown.tracks[only(track, 1).value] = std::string(only(track, 2).content);
    }
    if (has(field.content, 11)) show_event(shown, field.content);
  }
  return shown;
}

struct Outcome {
  int status;
  std::string out, err;
};

Outcome run(const tool::TraceOptions& options) {
  std::ostringstream out, err;
  const int status = tool::trace(options, out, err);
  return {status, out.str(), err.str()};
}

}  // namespace

TEST_CASE("a job that is preempted shows on its task and on its core") {
  Recording run;
  run.admit(1us, 5, 1, "Plant/slow");
  run.admit(2us, 6, 2, "Plant/fast");
  run.start(10us, 5, 100, 1);
  run.start(12us, 6, 101, 2);
  run.finish(15us, 6, 101);
  run.finish(20us, 5, 100);
  const Shown shown = show(tool::perfetto_of(run.trace));
  CHECK(shown.clocks == 3);
  const std::vector<std::string> core = [&] {
    std::vector<std::string> found;
    for (const std::string& event : shown.events)
      if (event.starts_with("core 1:")) found.push_back(event.substr(8));
    return found;
  }();
  CHECK(core == std::vector<std::string>{"begin task 5 Plant/slow @10", "end @12", "begin task 6 Plant/fast @12",
                                         "end @15", "begin task 5 Plant/slow @15", "end @20"});
  CHECK(std::ranges::count(shown.events, "task 5 Plant/slow: begin job 100 @10") == 1);
  CHECK(std::ranges::count(shown.events, "task 5 Plant/slow: release @9") == 1);
  CHECK(std::ranges::count(shown.events, "task 6 Plant/fast: end @15") == 1);
  CHECK(std::ranges::count(shown.events, "utilization of core 1: 40 @2") == 1);
  for (const auto& [track, open] : shown.open) CHECK(open == 0);
}

TEST_CASE("a job that goes on in the place of the next one is one slice") {
  Recording run;
  run.admit(1us, 5, 1, "Plant/step");
  run.start(10us, 5, 100, 1);
  run.scheduler(20us, Overran{Time{20us}, JobId{100}, TaskId{5}, 10us});
  run.scheduler(20us, Run{JobId{100}, TaskId{5}, Priority{1}, Time{9us}, Time{40us}});
  run.finish(25us, 5, 100);
  const Shown shown = show(tool::perfetto_of(run.trace));
  for (const char* expected : {"task 5 Plant/step: begin job 100 @10", "task 5 Plant/step: release @9",
                               "task 5 Plant/step: next place @20", "task 5 Plant/step: end @25"})
    CHECK(std::ranges::count(shown.events, expected) == 1);
  for (const auto& [track, open] : shown.open) CHECK(open == 0);
}

TEST_CASE("misses, overruns, refusals and early jobs are marks on their task") {
  Recording run;
  run.admit(1us, 5, 1, "Plant/step");
  run.start(10us, 5, 100, 1);
  run.scheduler(12us, Arrived{.at = Time{12us}, .job = JobId{101}, .task = TaskId{5}});
  run.scheduler(12us, Defer{JobId{101}, TaskId{5}, Time{30us}});
  run.scheduler(13us, Arrived{.at = Time{13us}, .job = JobId{102}, .task = TaskId{5}});
  run.scheduler(13us, Refuse{JobId{102}, {.code = RefusalCode::job_waiting}});
  run.scheduler(20us, Overran{Time{20us}, JobId{100}, TaskId{5}});
  run.scheduler(21us, trace::Missed{Time{21us}, JobId{100}, TaskId{5}, Time{9us}, Time{20us}});
  run.scheduler(21us, trace::Overslept{Time{21us}, JobId{100}, TaskId{5}, Duration{3us}});
  run.finish(21us, 5, 100);
  run.manager(30us, Refuse{JobId{7}, {.code = RefusalCode::not_schedulable}});
  run.manager(40us, Vacated{Time{40us}, TaskId{5}, CoreId{1}});
  const Shown shown = show(tool::perfetto_of(run.trace));
  for (const char* expected :
       {"task 5 Plant/step: early @12", "task 5 Plant/step: refused: job_waiting @13", "task 5 Plant/step: overrun @20",
        "task 5 Plant/step: deadline missed @21", "task 5 Plant/step: slept for longer than declared @21",
        "manager: refuse: not_schedulable @30", "utilization of core 1: 0 @40"})
    CHECK(std::ranges::count(shown.events, expected) == 1);
}

TEST_CASE("a trace whose beginning was overwritten is shown from where it begins") {
  Recording run;
  run.finish(5us, 5, 99);  // its beginning was overwritten
  run.start(10us, 5, 100, 1);
  const Shown shown = show(tool::perfetto_of(run.trace));
  CHECK(std::ranges::count(shown.events, "task 5: begin job 100 @10") == 1);
}

TEST_CASE("events stand in the order of time") {
  Recording run;
  run.admit(50us, 5, 1, "late");
  run.start(10us, 5, 100, 1);
  std::uint64_t last = 0;
  const std::string trace = tool::perfetto_of(run.trace);
  for (const Field& packet : fields_of(trace)) {
    if (!has(packet.content, 8)) continue;
    const std::uint64_t at = only(packet.content, 8).value;
    CHECK(at >= last);
    last = at;
  }
  CHECK(last == 50'000);
}

// Writes every kind of packet: clocks; the tracks of a process, its cores, counters and tasks; slices, marks and
// counters, with numbers and texts. This test reads them with Perfetto's schema, not with our own reader.
TEST_CASE("every field that is written stands in Perfetto's schema with its type") {
  if (!can_decode_traces()) return;
  TempDirectory directory;
  Recording run;
  run.admit(1us, 5, 1, "Plant/step");
  run.start(10us, 5, 100, 1);
  run.scheduler(20us, Overran{Time{20us}, JobId{100}, TaskId{5}});
  run.scheduler(21us, trace::Missed{Time{21us}, JobId{100}, TaskId{5}, Time{9us}, Time{20us}});
  run.finish(21us, 5, 100);
  run.manager(30us, Refuse{JobId{7}, {.code = RefusalCode::not_schedulable}});
  std::ofstream(directory / "trace", std::ios::binary) << tool::perfetto_of(run.trace);
  const auto decoded = corelane::testing::decode_trace(directory / "trace");
  CHECK(decoded.good);
  CHECK(decoded.unknown == "");
  for (const char* expected :
       {"clock_snapshot {", "sequence_flags: 1", "process_name: \"plant\"", "unit_name: \"%\"",
        "name: \"task 5 Plant/step\"", "type: TYPE_SLICE_BEGIN", "type: TYPE_SLICE_END", "name: \"deadline missed\"",
        "double_counter_value: 20", "int_value: ", "timestamp_clock_id: 3", "parent_uuid: 1"})
    CHECK_THAT(decoded.text, Catch::Contains(expected));
}

TEST_CASE("a field that the schema does not have is found by the check of traces") {
  if (!can_decode_traces()) return;
  TempDirectory directory;
  tool::ProtoMessage packet, trace;
  trace.message(1, packet.number(8, 1).number(9999, 1));
  std::ofstream(directory / "trace", std::ios::binary) << trace.bytes();
  const auto decoded = corelane::testing::decode_trace(directory / "trace");
  CHECK(decoded.good);
  CHECK(decoded.unknown == "  9999: 1");
}

TEST_CASE("the summary names the process that wrote the trace and what is in it") {
  TempDirectory directory;
  Recording recording;
  recording.admit(1us, 5, 1, "Plant/step");
  recording.start(10us, 5, 100, 1);
  for (const Duration at : {12us, 14us})
    recording.scheduler(at, Overran{Time{at}, JobId{100}, TaskId{5}, 1s});  // used two budgets
  recording.scheduler(15us, Arrived{.at = Time{15us}, .job = JobId{101}, .task = TaskId{5}});
  recording.scheduler(15us, Refuse{JobId{101}, {.code = RefusalCode::job_waiting}});
  recording.scheduler(16us, trace::TurnedAway{.at = Time{16us}, .job = JobId{102}, .task = TaskId{5}});
  for (std::uint64_t job = 103; job < 105; ++job)
    recording.scheduler(20us, trace::Missed{Time{20us}, JobId{job}, TaskId{5}, Time{9us}, Time{19us}});
  recording.admit(3us, 6, 2, "sleeps");
  recording.scheduler(20us, Overran{Time{20us}, JobId{9}, TaskId{6}});  // the job slept too long
  recording.scheduler(21us, trace::Blocked{Time{21us}, JobId{9}, TaskId{6}, Duration{300us}});
  recording.finish(21us, 6, 9);
  recording.manager(30us, Refuse{JobId{7}, {.code = RefusalCode::not_schedulable}});
  recording.trace.tracks[1].lost = 12;
  const auto [status, out, err] = run({.file = recording.save(directory / "t")});
  CHECK(status == 0);
  CHECK(err == "");
  CHECK_THAT(out, Catch::Contains("plant, process 42, written because of: request"));
  CHECK_THAT(out, Catch::Contains("tasks admitted 2, jobs started 1, finished 1"));
  CHECK_THAT(out, Catch::Contains("deadlines missed 2, overruns 1, oversleeps 0, blocks 1, refusals 3\n"
                                  "  task 5 Plant/step: missed 2 deadlines, overran 1 time, 2 requests refused\n"
                                  "  task 6 sleeps: blocked 1 time\n"));
  CHECK_THAT(out, Catch::Contains("core 1: 12 records, 12 older slots were overwritten"));
  const auto json = nlohmann::json::parse(run({.file = directory / "t", .format = tool::Format::json}).out);
  CHECK(json["troubles"].size() == 2);
  CHECK(json["troubles"][0] == nlohmann::json({{"task", 5},
                                               {"label", "Plant/step"},
                                               {"misses", 2},
                                               {"own_misses", 0},
                                               {"overruns", 1},
                                               {"oversleeps", 0},
                                               {"blocks", 0},
                                               {"jobs_refused", 2}}));
}

TEST_CASE("the summary of a run without admission says that nothing was promised") {
  TempDirectory directory;
  Recording recording;
  const auto shown = [&](tool::Format format) {
    return run({.file = recording.save(directory / "t"), .format = format}).out;
  };
  CHECK_THAT(shown(tool::Format::table), !Catch::Contains("nothing was promised"));
  recording.trace.options.test = &admission::none;
  CHECK_THAT(shown(tool::Format::table), Catch::Contains("\ndispatch.admission was off: nothing was promised\n"));
  CHECK(nlohmann::json::parse(shown(tool::Format::json))["promises"] == false);
}

TEST_CASE("text has every record in a line") {
  TempDirectory directory;
  Recording recording;
  recording.start(10us, 5, 100, 1);
  const auto [status, out, err] = run({.file = recording.save(directory / "t"), .text = true});
  CHECK(status == 0);
  CHECK(out ==
        "10000 core 1: run job=100 task=5 priority=1 released=9000 deadline=20000\n10000 core 1: started job=100 "
        "task=5\n");
}

TEST_CASE("text has the names of policies and codes, and the units of durations") {
  TempDirectory directory;
  Recording recording;
  sched::Admit admit{};
  admit.contract = make_contract(20ms, 1500us, 15ms);
  admit.contract.on_overrun = OverrunPolicy::cancel;
  recording.manager(1us, admit);
  recording.manager(1us, sched::trace::Named::make(TaskId{7}, "a=1 deadline=5"));
  recording.scheduler(
      2us, sched::trace::TurnedAway{
               .at = Time{2us}, .job = JobId{1}, .task = TaskId{7}, .reason = sched::RefusalCode::job_waiting});
  recording.finish(3us, 7, 1, 12'345ns);
  const std::string out = run({.file = recording.save(directory / "t"), .text = true}).out;
  CHECK_THAT(out, Catch::Contains(" period=20ms deadline=15ms budget=1500us jitter=1500us suspension=0ns importance=0 "
                                  "on_overrun=cancel intensity=0 r1=") &&
                      Catch::Contains(" task=7 a=1 deadline=5\n") && Catch::Contains(" code=job_waiting\n") &&
                      Catch::Contains(" used=12345ns\n"));
}

TEST_CASE("a trace as text numbers peers as the live view does") {
  TempDirectory directory;
  Recording recording;
  recording.admit(1ms, 1, 2, "Plant/step", peer_of(4, 1, true));
  const std::string out = run({.file = recording.save(directory / "t"), .text = true}).out;
  CHECK_THAT(out, Catch::Contains(" peer=4 "));
}

TEST_CASE("programs get the summary, the records and the replay as JSON") {
  TempDirectory directory;
  Recording recording;
  recording.admit(10us, 7, 2, "Plant/st\xff");
  recording.start(20us, 7, 1, 2);
  recording.finish(30us, 7, 1);
  const auto found = run({.file = recording.save(directory / "t"),
                          .output = directory / "p",
                          .text = true,
                          .replay = true,
                          .format = tool::Format::json});
  const auto json = nlohmann::json::parse(found.out);
  CHECK(json["jobs_finished"] == 1);
  CHECK(json["tracks"][1]["name"] == "core 1");
  CHECK(json["records"].size() == 5);
  CHECK(json["records"][0]["at_ns"] == 10'000);
  CHECK(json["replay"]["same"] == false);
  CHECK(json["replay"]["difference"]["track"] == "manager");
  CHECK(found.status == 1);
}

TEST_CASE("a replay that differs is told with its place, and is a failure") {
  TempDirectory directory;
  Recording recording;
  recording.scheduler(10us, Run{JobId{1}, TaskId{2}, Priority{3}, Time{}, Time{}});
  const auto [status, out, err] = run({.file = recording.save(directory / "t"), .replay = true});
  CHECK(status == 1);
  CHECK_THAT(err, Catch::Contains("the replay differs at record 0 of core 1"));
}

TEST_CASE("a trace is written for Perfetto") {
  TempDirectory directory;
  Recording recording;
  recording.start(10us, 5, 100, 1);
  const auto [status, out, err] = run({.file = recording.save(directory / "t"), .output = directory / "p"});
  CHECK(status == 0);
  std::ifstream file(directory / "p", std::ios::binary);
  CHECK(std::string(std::istreambuf_iterator<char>(file), {}) == tool::perfetto_of(recording.trace));
}

TEST_CASE("a running server answers a request, and its trace replays") {
  TempDirectory directory;
  os::log::set_level(os::log::Level::off);
  dispatch::ExecutiveOptions options;
  options.real_time = false;
  options.recorder.runtime_directory = directory.path();
  options.recorder.directory = directory / "traces";
  dispatch::UnguardedCores cores(*os::Topology::detect());
  auto executive = dispatch::Executive::start(options, cores);
  REQUIRE(executive);
  CHECK((*executive)->admit_and_wait({.contract = make_contract(100ms, 1ms), .label = "Plant/step"}));
  const auto [status, out, err] = run({.file = "",
                                       .output = directory / "p",
                                       .replay = true,
                                       .request = ::getpid(),
                                       .directory = directory.path(),
                                       .wait = 1h});
  os::log::set_level(os::log::Level::info);
  CHECK(status == 0);
  CHECK(err == "");
  CHECK_THAT(out, Catch::Contains("tasks admitted 1") && Catch::Contains("replayed manager: "));
  std::ifstream file(directory / "p", std::ios::binary);
  const Shown shown = show(std::string(std::istreambuf_iterator<char>(file), {}));
  CHECK(std::ranges::any_of(shown.tracks, [](const auto& track) { return track.second.ends_with("Plant/step"); }));
}

// Errors.

TEST_CASE("a file that is not there or no trace is a failure that names it") {
  TempDirectory directory;
  auto missing = run({.file = directory / "none"});
  CHECK(missing.status == 1);
  CHECK_THAT(missing.err, Catch::Contains("none does not exist"));
  CHECK_THAT(run({.file = directory / "a\x1b[2J"}).err, Catch::Contains("a?[2J does not exist"));
  CHECK_THAT(run({.file = "4194305"}).err,
             Catch::Contains("4194305 does not exist; a process's trace is had by --request 4194305"));
  std::ofstream(directory / "text") << "hello";
  CHECK_THAT(run({.file = directory / "text"}).err, Catch::Contains("not a Corelane trace"));
  REQUIRE(::mkfifo((directory / "pipe").c_str(), 0600) == 0);
  CHECK_THAT(run({.file = directory / "pipe"}).err, Catch::Contains("pipe is no plain file"));
}

TEST_CASE("a process that is not there or does not answer is told so") {
  TempDirectory directory;
  const auto asked = [&](int pid) { return run({.request = pid, .directory = directory.path(), .wait = 0ms}).err; };
  CHECK_THAT(asked(0x3fff'fff0), Catch::Contains("there is no process"));
  CHECK_THAT(asked(1), Catch::Contains("process 1 is no Corelane server with runtime.directory " + directory.path() +
                                       "; corelane top shows which there are"));
  CHECK(directory.entries() == 0);
}

TEST_CASE("a second request for traces waits for its turn, and says so when the wait is too long") {
  TempDirectory directory;
  const int self = ::getpid();
  const auto page = dispatch::CounterPage::make(directory.path(), 1, 1);
  REQUIRE(page);
  const auto asked = [&] { return run({.request = self, .directory = directory.path(), .wait = 0ms}).err; };
  {
    auto other = os::claim_file(dispatch::dump_turn(directory.path(), self).c_str());
    REQUIRE(other);
    CHECK(asked() ==
          "corelane trace: process " + std::to_string(self) + " is being asked for traces by others; ask again\n");
  }
  CHECK_THAT(asked(), Catch::Contains("did not answer"));  // the turn of an asker that was killed does not count
  CHECK(directory.entries() == 1);                         // the page
}

TEST_CASE("a process that is stopped is told so, and not waited for") {
  TempDirectory directory;
  os::ChildProcess stopped({"/bin/sleep", "1000"});
  REQUIRE(corelane::testing::stop_process(stopped.pid()));
  const auto outcome = run({.request = stopped.pid(), .directory = directory.path(), .wait = 1h});
  const std::string pid = std::to_string(stopped.pid());
  CHECK(outcome.err ==
        "corelane trace: process " + pid + " is stopped, so it writes nothing: kill -CONT " + pid + " lets it go on\n");
  CHECK(directory.entries() == 0);
  REQUIRE(::kill(stopped.pid(), SIGKILL) == 0);
}

TEST_CASE("a trace is not written over") {
  TempDirectory directory;
  const std::string file = Recording().save(directory / "t");
  const auto size = std::filesystem::file_size(file);
  const auto outcome = run({.file = file, .output = directory / "./t"});
  CHECK(outcome.status == 1);
  CHECK_THAT(outcome.err, Catch::Contains("is the trace itself"));
  CHECK(std::filesystem::file_size(file) == size);
}

TEST_CASE("a server that shows itself in another directory is not asked where it does not look") {
  TempDirectory directory, place;
  const std::string its = place / "a\x1b[2J", shown = place / "a?[2J";  // the name clears the terminal
  std::filesystem::create_directory(its);
  const auto page = dispatch::CounterPage::make(its, 1, 1);
  REQUIRE(page);
  const auto outcome = run({.request = ::getpid(), .directory = directory.path(), .wait = 1h});
  CHECK(outcome.status == 1);
  CHECK_THAT(outcome.err, Catch::Contains("has runtime.directory " + shown + ", not " + directory.path() +
                                          "; ask it with --runtime-directory " + shown));
}
