#include "orb/sched/trace/trace.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <string>

#include "orb/sched/trace/trace_file.h"

namespace trace_test {

using namespace corelane;
using namespace corelane::sched;
using namespace std::chrono_literals;

namespace {

constexpr Time at{5ms};
constexpr Contract contract{.period = 10ms, .deadline = 8ms, .budget = 1ms, .jitter = 200us, .importance = -3};

// Returns an empty string if `record` is unchanged after decode() and encode(), else what is wrong.
template <typename T>
std::string fault_of_round_trip(const TraceRecord& record) {
  const auto view = first_record(record.span());
  if (!view || view->words.size() != record.count) return "is no whole record";
  const auto item = decode<T>(*view);
  if (!item) return std::string(name_of(view->kind)) + " is not decoded";
  TraceRecord again;
  encode(*item, view->at, again);
  return std::ranges::equal(again.span(), record.span()) ? "" : std::string(name_of(view->kind)) + " changed";
}

// Tests a record with words of zeros, then of ones, which flags can hold, too.
template <typename T>
std::string fault_of_kind() {
  TraceRecord record;
  encode(T{}, at, record);
  if (record.words[0] != static_cast<std::uint64_t>(Duration{5ms}.count())) record.words[0] = 7;  // has its own time
  if (std::string fault = fault_of_round_trip<T>(record); !fault.empty()) return fault;
  std::fill(record.words.begin() + TraceRecord::header_words,
            record.words.begin() + static_cast<std::ptrdiff_t>(record.count), 1);
  if constexpr (std::is_same_v<T, Arrived>) record.words[TraceRecord::header_words + 3] = 0;  // no contract follows
  const std::string text = text_of(*first_record(record.span()));
  const auto named = static_cast<std::size_t>(std::ranges::count(text, '='));
  constexpr bool has_no_names_for_all = std::is_same_v<T, trace::TaskPut> || std::is_same_v<T, trace::Named>;
  if (!has_no_names_for_all && named != record.count - TraceRecord::header_words)
    return text + " does not name each of its words";
  return fault_of_round_trip<T>(record);
}

template <typename... T>
std::string fault_of_kinds() {
  std::string faults;
  ((faults += fault_of_kind<T>()), ...);
  return faults;
}

TraceFile sample() {
  TraceFile trace{.program = "plant", .pid = 42, .start_ticks = 7, .dumped_at = at, .reason = TraceReason::miss};
  trace.options.cores = {{.id = CoreId{2}, .capacity = 900'000, .load = {.budget = 20us, .period = 1ms}, .cache = 4}};
  trace.options.peer_urgency = 3ms;
  trace.options.peer_tasks = 7;
  Admit admit{};
  admit.task = TaskId{9};
  admit.contract = contract;
  Track manager;
  TraceRecord record;
  encode(Proposed{.at = at, .request = JobId{1}, .contract = contract}, at, record);
  manager.words.assign(record.span().begin(), record.span().end());
  encode(admit, at, record);
  manager.words.insert(manager.words.end(), record.span().begin(), record.span().end());
  trace.tracks = {manager,
                  {.kind = TrackKind::core, .core = CoreId{2}, .max_tasks = 8, .timer = TimerId{2}, .lost = 64}};
  return trace;
}

std::string why_not(const std::vector<std::byte>& bytes) {
  const auto trace = parse_trace(bytes);
  return trace ? "" : trace.error().text;
}

void set_word(std::vector<std::byte>& bytes, std::size_t word, std::uint64_t value) {
  for (std::size_t i = 0; i < 8; ++i) bytes[word * 8 + i] = static_cast<std::byte>(value >> 8 * i & 0xff);
}

// Updates the checksum, as somebody does who changes a file on purpose.
void seal(std::vector<std::byte>& bytes) { set_word(bytes, 8, crc32c(Bytes(bytes).subspan(72))); }

}  // namespace

TEST_CASE("every fact comes out of a record as it went in") {
  CHECK(fault_of_kinds<Arrived, Proposed, Departed, PeerLost, CoreLost, Vacated, Finished, Overran, Suspended, Resumed,
                       Elapsed>() == "");
}

TEST_CASE("every command comes out of a record as it went in") {
  CHECK(fault_of_kinds<Admit, Postpone, Dispatch, Reprioritize, Ceiling, Vacate, Move, Dismiss, Evict, Refuse, Run,
                       Defer, Demote, Cancel, Watch, Arm, ReportVacated, Joined>() == "");
}

TEST_CASE("every call and observation comes out of a record as it went in") {
  using namespace trace;
  CHECK(fault_of_kinds<EarlyAllowed, TaskAdded, JoinAsked, PrioritySet, VacateAsked, DismissAsked, TaskTaken, TaskPut,
                       CapacitySet, InterferenceSet, InterferenceLoad, ClosedSet, RepackSet, Started, Missed, Overslept,
                       TurnedAway, Named>() == "");
}

TEST_CASE("a fact keeps its contract, its signs and its longest times") {
  TraceRecord record;
  encode(Fact{Arrived{.at = at, .job = JobId{3}, .task = no_task, .peer = PeerId{4}, .contract = contract}}, record);
  const auto fact = fact_of(*first_record(record.span()));
  REQUIRE(fact);
  const auto* arrived = std::get_if<Arrived>(&*fact);
  REQUIRE(arrived);
  CHECK(arrived->at == at);
  CHECK(arrived->contract == contract);
  encode(Command{Arm{TimerId{1}, never}}, at, record);
  CHECK(decode<Arm>(*first_record(record.span()))->at == never);
}

TEST_CASE("the words of a record are named one by one") {
  TraceRecord record;
  encode(Run{JobId{7}, TaskId{3}, Priority{-2}, Time{1us}, Time{9us}}, at, record);
  CHECK(text_of(*first_record(record.span())) == "run job=7 task=3 priority=-2 released=1000 deadline=9000");
  encode(trace::Named::make(TaskId{3}, "Plant/step"), at, record);
  CHECK(text_of(*first_record(record.span())) == "named task=3 Plant/step");
  encode(trace::TaskAdded{TaskId{3}, contract, Priority{4}}, at, record);
  CHECK_THAT(text_of(*first_record(record.span())), Catch::EndsWith("section4=0 priority=4"));
}

TEST_CASE("a name that is too long is cut") {
  const std::string name(trace::Named::room + 5, 'x');
  CHECK(trace::Named::make(TaskId{1}, name).name() == name.substr(0, trace::Named::room));
}

TEST_CASE("a trace file holds what was written") {
  const auto parsed = parse_trace(to_bytes(sample()));
  REQUIRE(parsed);
  CHECK(parsed->program == "plant");
  CHECK(parsed->reason == TraceReason::miss);
  CHECK(parsed->options.cores.at(0).capacity == 900'000);
  CHECK(parsed->options.cores.at(0).cache == 4);
  CHECK(parsed->options.peer_urgency == 3ms);
  CHECK(parsed->options.peer_tasks == 7);
  REQUIRE(parsed->tracks.size() == 2);
  CHECK(parsed->tracks[1].lost == 64);
  const auto records = records_of(parsed->tracks[0]);
  REQUIRE(records.size() == 2);
  CHECK(decode<Admit>(records[1])->contract == contract);
  CHECK(to_bytes(*parsed) == to_bytes(sample()));
}

TEST_CASE("a trace file holds the allocation strategy and the admission test") {
  TraceFile trace = sample();
  for (const AdmissionTest* const test : admission_tests()) {
    trace.options.test = test;
    const auto parsed = parse_trace(to_bytes(trace));
    REQUIRE(parsed);
    CHECK(parsed->options.test == test);
  }
  for (const AllocationStrategy* const strategy : allocation_strategies()) {
    trace.options.allocation = strategy;
    const auto parsed = parse_trace(to_bytes(trace));
    REQUIRE(parsed);
    CHECK(parsed->options.allocation == strategy);
  }
}

TEST_CASE("the checksum is that of the published vector") {
  const std::string digits = "123456789";
  CHECK(crc32c(std::as_bytes(std::span(digits))) == 0xe306'9283);
}

// Error paths.

TEST_CASE("a record with a word too few or too many or out of its range is none") {
  TraceRecord record;
  encode(Dispatch{JobId{1}, TaskId{2}, CoreId{3}}, at, record);
  const auto changed = [&](std::size_t word, std::uint64_t value) {
    TraceRecord copy = record;
    copy.words[word] = value;
    const auto view = first_record(copy.span());
    return view && decode<Dispatch>(*view).has_value();
  };
  CHECK(changed(4, 7));
  CHECK_FALSE(changed(4, 40'000));                  // a core number has 16 bits
  CHECK_FALSE(changed(1, record.words[1] - 256));   // one word fewer
  CHECK_FALSE(changed(0, std::uint64_t{1} << 62));  // a time that overflows soon
}

TEST_CASE("a file that is no trace is refused with the reason") {
  const auto good = to_bytes(sample());
  CHECK_THAT(why_not({}), Catch::StartsWith("not a Corelane trace"));
  CHECK_THAT(why_not(std::vector<std::byte>(4096)), Catch::StartsWith("not a Corelane trace"));
  auto bytes = good;
  set_word(bytes, 1, 99);
  CHECK(why_not(bytes) == "a trace of format version 99; this program reads version 8");
  bytes = good;
  bytes.back() ^= std::byte{1};
  CHECK(why_not(bytes) == "damaged: its checksum is wrong");
  bytes.push_back({});
  CHECK_THAT(why_not(bytes), Catch::StartsWith("too long"));
}

TEST_CASE("a file that was cut off anywhere is refused") {
  const auto good = to_bytes(sample());
  std::size_t accepted = 0;
  for (std::size_t size = 0; size < good.size(); ++size)
    accepted += why_not(std::vector(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size))).empty();
  CHECK(accepted == 0);
  CHECK_THAT(why_not(std::vector(good.begin(), good.end() - 8)), Catch::StartsWith("cut off"));
}

TEST_CASE("impossible words are found where the checksum is right") {
  const auto fault_with = [](std::size_t word, std::uint64_t value) {
    auto bytes = to_bytes(sample());
    set_word(bytes, word, value);
    seal(bytes);
    return why_not(bytes);
  };
  CHECK_THAT(fault_with(9, 77), Catch::Contains("header"));         // reason
  CHECK_THAT(fault_with(11, 1000), Catch::Contains("more cores"));  // cores
  CHECK_THAT(fault_with(12, 1000), Catch::Contains("more tracks"));
  CHECK_THAT(fault_with(14, UINT64_MAX), Catch::Contains("header"));  // max_tasks
  CHECK_THAT(fault_with(20, 1000), Catch::Contains("header"));        // length of the strategy's name
  CHECK_THAT(fault_with(28, 2'000'000), Catch::Contains("a core's options"));
  CHECK_THAT(fault_with(35, 9), Catch::Contains("impossible header"));  // the first track's kind
  CHECK_THAT(fault_with(40, 5000), Catch::Contains("longer than the file"));
  CHECK_THAT(fault_with(42, 255), Catch::Contains("the record at byte 328 is none"));
}

TEST_CASE("a trace with an unknown allocation strategy is refused with those that there are") {
  const AllocationStrategy unknown{.name = "odd\x1b-fit", .help = "", .before = default_allocation_strategy()->before};
  TraceFile trace = sample();
  trace.options.allocation = &unknown;
  CHECK_THAT(
      why_not(to_bytes(trace)),
      Catch::StartsWith("recorded with the allocation strategy 'odd?-fit', which this program does not have (") &&
          Catch::Contains(names_of(allocation_strategies())));
}

TEST_CASE("no change of a file can harm its reader") {
  std::mt19937_64 random(1);
  const auto good = to_bytes(sample());
  std::size_t parsed = 0;
  for (int i = 0; i < 20'000; ++i) {
    auto bytes = good;
    for (std::uint64_t change = random() % 3; change < 3; ++change) {
      const std::size_t word = 3 + random() % (bytes.size() / 8 - 3);
      set_word(bytes, word, random() % 2 ? random() : random() % 300);
    }
    seal(bytes);
    if (const auto trace = parse_trace(bytes)) {
      for (const Track& track : trace->tracks)
        for (const TraceView& view : records_of(track)) parsed += text_of(view).empty() ? 0 : 1;
    }
  }
  CHECK(parsed > 0);
}

}  // namespace trace_test
