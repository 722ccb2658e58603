// Trace: what a Manager or a Lane was told, and what it answered, as records of 64-bit words; with what the runtime
// observed beside it. A recorded run holds all that orb/sim/replay needs to come to the same commands again.
//
// One record is a time, a kind and a body; the body is the fields of its type in their order, one word each (signed
// values sign-extended, a contract 15 words, an optional one a flag before it). docs/recorder.md has the table.
// A number in TraceKind is never used again for something else; a changed body is a new trace_version.
//
// Threads: pure functions and values. encode() allocates nothing.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/sched/commands.h"
#include "orb/sched/facts.h"
#include "orb/sched/lane.h"
#include "orb/sched/task.h"

namespace corelane::sched {

inline constexpr std::uint64_t trace_version = 2;

// ---- What can be recorded -----------------------------------------------------------------------------------------

namespace trace {

// What a Lane is told beside facts.
struct EarlyAllowed {
  bool allowed = false;
};
struct TaskAdded {
  TaskId task;
  Contract contract;
  Priority priority;
};
struct JoinAsked {
  Time at;
  TaskId task;
  Contract contract;
  Priority priority;
};
struct PrioritySet {
  TaskId task;
  Priority priority;
};
struct VacateAsked {
  Time at;
  TaskId task;
};
struct DismissAsked {
  Time at;
  TaskId task;
};
struct TaskTaken {
  TaskId task;
};
struct TaskPut {
  Time at;
  LaneTask task;
};

// What the Manager is told beside facts.
struct CapacitySet {
  CoreId core;
  Ppm capacity = 0;
};
struct InterferenceSet {  // so many InterferenceLoad follow
  CoreId core;
  std::uint32_t loads = 0;
};
struct InterferenceLoad {
  PlatformLoad load;
};
struct ClosedSet {
  CoreId core;
  bool closed = false;
};
struct RepackSet {
  bool allowed = false;
};

// What the runtime observed; tells no state machine anything.
struct Started {  // the job's code begins
  Time at;
  JobId job;
  TaskId task;
};
struct Missed {  // the job ended after its deadline
  Time at;
  JobId job;
  TaskId task;
  Time released;
  Time deadline;
};
struct Blocked {  // the job ended, and had waited for something without saying so
  Time at;
  JobId job;
  TaskId task;
  Duration waited;
};
struct TurnedAway {  // refused before it reached its Lane
  Time at;
  JobId job;
  TaskId task;
  RefusalCode reason = RefusalCode::job_waiting;
};
struct Named {  // what the task is called; cut to its room
  static constexpr std::size_t room = 96;
  TaskId task;
  std::array<char, room> text{};

  static Named make(TaskId task, std::string_view name) noexcept;
  std::string_view name() const noexcept;
};

}  // namespace trace

enum class TraceKind : std::uint8_t {
  arrived = 1,
  proposed = 2,
  departed = 3,
  peer_lost = 4,
  core_lost = 5,
  vacated = 6,
  finished = 7,
  overran = 8,
  suspended = 9,
  resumed = 10,
  elapsed = 11,

  early_allowed = 32,
  task_added = 33,
  priority_set = 34,
  vacate_asked = 35,
  dismiss_asked = 36,
  task_taken = 37,
  task_put = 38,
  capacity_set = 39,
  interference_set = 40,
  interference_load = 41,
  closed_set = 42,
  repack_set = 43,
  join_asked = 44,

  admit = 64,
  place = 65,
  reprioritize = 66,
  vacate = 67,
  move = 68,
  dismiss = 69,
  evict = 70,
  refuse = 71,
  run = 72,
  defer = 73,
  demote = 74,
  cancel = 75,
  watch = 76,
  arm = 77,
  report_vacated = 78,
  ceiling = 79,
  joined = 80,
  postpone = 81,

  started = 96,
  missed = 97,
  turned_away = 98,
  named = 99,
  blocked = 100,
};

// Facts and calls are told; commands are answers; the rest was observed.
constexpr bool is_input(TraceKind kind) noexcept { return static_cast<std::uint8_t>(kind) < 64; }
constexpr bool is_command(TraceKind kind) noexcept {
  return static_cast<std::uint8_t>(kind) >= 64 && static_cast<std::uint8_t>(kind) < 96;
}
// A short name such as "arrived"; empty for a number that is none of them. Static storage.
std::string_view name_of(TraceKind kind) noexcept;

// ---- The fields of each type --------------------------------------------------------------------------------------

namespace trace {

// Each type's fields in the order of the words; its `at` is in the header. The binding names all members, so whoever
// adds one elsewhere is stopped here: add it to the words, too, and give trace_version the next number.
// clang-format off
template <typename Io> void fields(Io& io, ResourceUse& x) { auto& [resource, longest] = x; io(resource, longest); }
template <typename Io> void fields(Io& io, Contract& x) { auto& [period, deadline, budget, jitter, suspension, importance, on_overrun, uses] = x; io(period, deadline, budget, jitter, suspension, importance, on_overrun, uses); }
template <typename Io> void fields(Io& io, Nearest& x) { auto& [period, deadline, budget] = x; io(period, deadline, budget); }
template <typename Io> void fields(Io& io, Refusal& x) { auto& [code, closest, loser, response, deadline, nearest] = x; io(code, closest, loser, response, deadline, nearest); }
template <typename Io> void fields(Io& io, PlatformLoad& x) { auto& [budget, period, jitter, blocking] = x; io(budget, period, jitter, blocking); }
template <typename Io> void fields(Io& io, WaitingJob& x) { auto& [job, released, nominal, eligible] = x; io(job, released, nominal, eligible); }

template <typename Io> void fields(Io& io, Arrived& x) { auto& [at, job, task, peer, contract] = x; io(job, task, peer, contract); }
template <typename Io> void fields(Io& io, Proposed& x) { auto& [at, request, peer, contract] = x; io(request, peer, contract); }
template <typename Io> void fields(Io& io, Departed& x) { auto& [at, task] = x; io(task); }
template <typename Io> void fields(Io& io, PeerLost& x) { auto& [at, peer] = x; io(peer); }
template <typename Io> void fields(Io& io, CoreLost& x) { auto& [at, core] = x; io(core); }
template <typename Io> void fields(Io& io, Vacated& x) { auto& [at, task, core] = x; io(task, core); }
template <typename Io> void fields(Io& io, Finished& x) { auto& [at, job, task, used] = x; io(job, task, used); }
template <typename Io> void fields(Io& io, Overran& x) { auto& [at, job, task] = x; io(job, task); }
template <typename Io> void fields(Io& io, Suspended& x) { auto& [at, job, task] = x; io(job, task); }
template <typename Io> void fields(Io& io, Resumed& x) { auto& [at, job, task] = x; io(job, task); }
template <typename Io> void fields(Io& io, Elapsed& x) { auto& [at, timer] = x; io(timer); }

template <typename Io> void fields(Io& io, Admit& x) { auto& [request, task, peer, core, priority, contract, response, startable_at, waits_for_idle] = x; io(request, task, peer, core, priority, contract, response, startable_at, waits_for_idle); }
template <typename Io> void fields(Io& io, Postpone& x) { auto& [request, startable_at] = x; io(request, startable_at); }
template <typename Io> void fields(Io& io, Place& x) { auto& [job, task, core] = x; io(job, task, core); }
template <typename Io> void fields(Io& io, Reprioritize& x) { auto& [task, core, priority] = x; io(task, core, priority); }
template <typename Io> void fields(Io& io, Ceiling& x) { auto& [resource, core, priority] = x; io(resource, core, priority); }
template <typename Io> void fields(Io& io, Vacate& x) { auto& [task, core] = x; io(task, core); }
template <typename Io> void fields(Io& io, Move& x) { auto& [task, from, to, priority] = x; io(task, from, to, priority); }
template <typename Io> void fields(Io& io, Dismiss& x) { auto& [task, core] = x; io(task, core); }
template <typename Io> void fields(Io& io, Evict& x) { auto& [task, peer, core, reason] = x; io(task, peer, core, reason); }
template <typename Io> void fields(Io& io, Refuse& x) { auto& [job, reason] = x; io(job, reason); }
template <typename Io> void fields(Io& io, Run& x) { auto& [job, task, priority, released, deadline] = x; io(job, task, priority, released, deadline); }
template <typename Io> void fields(Io& io, Defer& x) { auto& [job, task, until] = x; io(job, task, until); }
template <typename Io> void fields(Io& io, Demote& x) { auto& [job, task] = x; io(job, task); }
template <typename Io> void fields(Io& io, Cancel& x) { auto& [job, task] = x; io(job, task); }
template <typename Io> void fields(Io& io, Watch& x) { auto& [job, task, budget] = x; io(job, task, budget); }
template <typename Io> void fields(Io& io, Arm& x) { auto& [timer, at] = x; io(timer, at); }
template <typename Io> void fields(Io& io, ReportVacated& x) { auto& [task, core] = x; io(task, core); }
template <typename Io> void fields(Io& io, Joined& x) { auto& [task, core] = x; io(task, core); }

template <typename Io> void fields(Io& io, EarlyAllowed& x) { auto& [allowed] = x; io(allowed); }
template <typename Io> void fields(Io& io, TaskAdded& x) { auto& [task, contract, priority] = x; io(task, contract, priority); }
template <typename Io> void fields(Io& io, JoinAsked& x) { auto& [at, task, contract, priority] = x; io(task, contract, priority); }
template <typename Io> void fields(Io& io, PrioritySet& x) { auto& [task, priority] = x; io(task, priority); }
template <typename Io> void fields(Io& io, VacateAsked& x) { auto& [at, task] = x; io(task); }
template <typename Io> void fields(Io& io, DismissAsked& x) { auto& [at, task] = x; io(task); }
template <typename Io> void fields(Io& io, TaskTaken& x) { auto& [task] = x; io(task); }
template <typename Io> void fields(Io& io, TaskPut& x) { auto& [at, task] = x; io(task); }
template <typename Io> void fields(Io& io, CapacitySet& x) { auto& [core, capacity] = x; io(core, capacity); }
template <typename Io> void fields(Io& io, InterferenceSet& x) { auto& [core, loads] = x; io(core, loads); }
template <typename Io> void fields(Io& io, InterferenceLoad& x) { auto& [load] = x; io(load); }
template <typename Io> void fields(Io& io, ClosedSet& x) { auto& [core, closed] = x; io(core, closed); }
template <typename Io> void fields(Io& io, RepackSet& x) { auto& [allowed] = x; io(allowed); }

template <typename Io> void fields(Io& io, Started& x) { auto& [at, job, task] = x; io(job, task); }
template <typename Io> void fields(Io& io, Blocked& x) { auto& [at, job, task, waited] = x; io(job, task, waited); }
template <typename Io> void fields(Io& io, Missed& x) { auto& [at, job, task, released, deadline] = x; io(job, task, released, deadline); }
template <typename Io> void fields(Io& io, TurnedAway& x) { auto& [at, job, task, reason] = x; io(job, task, reason); }
template <typename Io> void fields(Io& io, Named& x) { auto& [task, text] = x; io(task, text); }
// clang-format on

template <typename Io>
void fields(Io& io, LaneTask& x) {
  auto& [id, contract, priority, tat, running, busy, started, held, joining, vacating, leaving, demoted, overran,
         suspended, suspended_at, slept, order, waiting, waiting_count, jobs, deferred, overruns] = x;
  io(id, contract, priority, tat, running, busy, started, held, joining, vacating, leaving, demoted, overran, suspended,
     suspended_at, slept, order, waiting_count);
  io(waiting, jobs, deferred, overruns);
}

// ---- Words --------------------------------------------------------------------------------------------------------

// Far beyond what occurs, so that sums of a few times do not overflow. Duration::max() and never are themselves.
inline constexpr std::int64_t longest_time = std::int64_t{1} << 60;

template <typename T>
struct IsArray : std::false_type {};
template <typename T, std::size_t size>
struct IsArray<std::array<T, size>> : std::true_type {};

template <typename T>
struct IsId : std::false_type {};
template <typename Tag, typename Rep>
struct IsId<Id<Tag, Rep>> : std::true_type {};

// Writes fields as words. Bound: the type's fields.
class WordWriter {
 public:
  explicit WordWriter(std::uint64_t* to) noexcept : begin_(to), next_(to) {}

  template <typename... T>
  void operator()(T&... values) noexcept {
    (one(values), ...);
  }
  std::size_t words() const noexcept { return static_cast<std::size_t>(next_ - begin_); }

 private:
  template <typename T>
  void one(T& value) noexcept {
    if constexpr (std::is_same_v<T, Time>) {
      put(value.time_since_epoch().count());
    } else if constexpr (std::is_same_v<T, Duration>) {
      put(value.count());
    } else if constexpr (IsId<T>::value) {
      put(value.value);
    } else if constexpr (std::is_enum_v<T> || std::is_integral_v<T>) {
      put(value);
    } else if constexpr (std::is_same_v<T, std::optional<Contract>>) {
      put(value.has_value());
      if (value) fields(*this, *value);
    } else if constexpr (std::is_same_v<T, std::array<char, Named::room>>) {
      std::memcpy(next_, value.data(), value.size());
      next_ += value.size() / sizeof *next_;
    } else if constexpr (IsArray<T>::value) {
      for (auto& item : value) one(item);
    } else {
      fields(*this, value);
    }
  }
  template <typename Scalar>
  void put(Scalar value) noexcept {
    if constexpr (std::is_signed_v<Scalar>)
      *next_++ = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
    else
      *next_++ = static_cast<std::uint64_t>(value);
  }

  std::uint64_t* const begin_;
  std::uint64_t* next_;
};

// Reads them again. A word that its field cannot hold, or one too few, makes ok() false; the rest reads as zero.
class WordReader {
 public:
  explicit WordReader(std::span<const std::uint64_t> words) noexcept : words_(words) {}

  template <typename... T>
  void operator()(T&... values) noexcept {
    (one(values), ...);
  }
  bool ok() const noexcept { return ok_; }
  std::size_t left() const noexcept { return words_.size(); }

 private:
  template <typename T>
  void one(T& value) noexcept {
    if constexpr (std::is_same_v<T, Time>) {
      value = Time{Duration{time(word())}};
    } else if constexpr (std::is_same_v<T, Duration>) {
      value = Duration{time(word())};
    } else if constexpr (IsId<T>::value) {
      value.value = narrow<decltype(value.value)>(word());
    } else if constexpr (std::is_enum_v<T>) {
      value = static_cast<T>(narrow<std::underlying_type_t<T>>(word()));
    } else if constexpr (std::is_integral_v<T>) {
      value = narrow<T>(word());
    } else if constexpr (std::is_same_v<T, std::optional<Contract>>) {
      value.reset();
      if (narrow<bool>(word())) fields(*this, value.emplace());
    } else if constexpr (std::is_same_v<T, std::array<char, Named::room>>) {
      for (std::size_t i = 0; i < value.size(); i += sizeof(std::uint64_t)) {
        const std::uint64_t text = word();
        std::memcpy(value.data() + i, &text, sizeof text);
      }
    } else if constexpr (IsArray<T>::value) {
      for (auto& item : value) one(item);
    } else {
      fields(*this, value);
    }
  }
  std::uint64_t word() noexcept {
    if (words_.empty()) return ok_ = false, 0;
    const std::uint64_t first = words_.front();
    words_ = words_.subspan(1);
    return first;
  }
  std::int64_t time(std::uint64_t word) noexcept {
    const auto value = static_cast<std::int64_t>(word);
    ok_ = ok_ && ((value > -longest_time && value < longest_time) || value == INT64_MAX);
    return ok_ ? value : 0;
  }
  template <typename Scalar>
  Scalar narrow(std::uint64_t word) noexcept {
    const auto value = static_cast<Scalar>(word);
    if constexpr (std::is_signed_v<Scalar>)
      ok_ = ok_ && static_cast<std::uint64_t>(static_cast<std::int64_t>(value)) == word;
    else
      ok_ = ok_ && static_cast<std::uint64_t>(value) == word;
    return value;
  }

  std::span<const std::uint64_t> words_;
  bool ok_ = true;
};

}  // namespace trace

// ---- Records ------------------------------------------------------------------------------------------------------

template <typename T>
inline constexpr TraceKind kind_of = TraceKind{};
// clang-format off
template <> inline constexpr TraceKind kind_of<Arrived> = TraceKind::arrived;
template <> inline constexpr TraceKind kind_of<Proposed> = TraceKind::proposed;
template <> inline constexpr TraceKind kind_of<Departed> = TraceKind::departed;
template <> inline constexpr TraceKind kind_of<PeerLost> = TraceKind::peer_lost;
template <> inline constexpr TraceKind kind_of<CoreLost> = TraceKind::core_lost;
template <> inline constexpr TraceKind kind_of<Vacated> = TraceKind::vacated;
template <> inline constexpr TraceKind kind_of<Finished> = TraceKind::finished;
template <> inline constexpr TraceKind kind_of<Overran> = TraceKind::overran;
template <> inline constexpr TraceKind kind_of<Suspended> = TraceKind::suspended;
template <> inline constexpr TraceKind kind_of<Resumed> = TraceKind::resumed;
template <> inline constexpr TraceKind kind_of<Elapsed> = TraceKind::elapsed;
template <> inline constexpr TraceKind kind_of<Admit> = TraceKind::admit;
template <> inline constexpr TraceKind kind_of<Postpone> = TraceKind::postpone;
template <> inline constexpr TraceKind kind_of<Place> = TraceKind::place;
template <> inline constexpr TraceKind kind_of<Reprioritize> = TraceKind::reprioritize;
template <> inline constexpr TraceKind kind_of<Ceiling> = TraceKind::ceiling;
template <> inline constexpr TraceKind kind_of<Joined> = TraceKind::joined;
template <> inline constexpr TraceKind kind_of<Vacate> = TraceKind::vacate;
template <> inline constexpr TraceKind kind_of<Move> = TraceKind::move;
template <> inline constexpr TraceKind kind_of<Dismiss> = TraceKind::dismiss;
template <> inline constexpr TraceKind kind_of<Evict> = TraceKind::evict;
template <> inline constexpr TraceKind kind_of<Refuse> = TraceKind::refuse;
template <> inline constexpr TraceKind kind_of<Run> = TraceKind::run;
template <> inline constexpr TraceKind kind_of<Defer> = TraceKind::defer;
template <> inline constexpr TraceKind kind_of<Demote> = TraceKind::demote;
template <> inline constexpr TraceKind kind_of<Cancel> = TraceKind::cancel;
template <> inline constexpr TraceKind kind_of<Watch> = TraceKind::watch;
template <> inline constexpr TraceKind kind_of<Arm> = TraceKind::arm;
template <> inline constexpr TraceKind kind_of<ReportVacated> = TraceKind::report_vacated;
template <> inline constexpr TraceKind kind_of<trace::EarlyAllowed> = TraceKind::early_allowed;
template <> inline constexpr TraceKind kind_of<trace::TaskAdded> = TraceKind::task_added;
template <> inline constexpr TraceKind kind_of<trace::JoinAsked> = TraceKind::join_asked;
template <> inline constexpr TraceKind kind_of<trace::PrioritySet> = TraceKind::priority_set;
template <> inline constexpr TraceKind kind_of<trace::VacateAsked> = TraceKind::vacate_asked;
template <> inline constexpr TraceKind kind_of<trace::DismissAsked> = TraceKind::dismiss_asked;
template <> inline constexpr TraceKind kind_of<trace::TaskTaken> = TraceKind::task_taken;
template <> inline constexpr TraceKind kind_of<trace::TaskPut> = TraceKind::task_put;
template <> inline constexpr TraceKind kind_of<trace::CapacitySet> = TraceKind::capacity_set;
template <> inline constexpr TraceKind kind_of<trace::InterferenceSet> = TraceKind::interference_set;
template <> inline constexpr TraceKind kind_of<trace::InterferenceLoad> = TraceKind::interference_load;
template <> inline constexpr TraceKind kind_of<trace::ClosedSet> = TraceKind::closed_set;
template <> inline constexpr TraceKind kind_of<trace::RepackSet> = TraceKind::repack_set;
template <> inline constexpr TraceKind kind_of<trace::Started> = TraceKind::started;
template <> inline constexpr TraceKind kind_of<trace::Missed> = TraceKind::missed;
template <> inline constexpr TraceKind kind_of<trace::Blocked> = TraceKind::blocked;
template <> inline constexpr TraceKind kind_of<trace::TurnedAway> = TraceKind::turned_away;
template <> inline constexpr TraceKind kind_of<trace::Named> = TraceKind::named;
// clang-format on

// A record to be written: two words of header, then the body.
//   word 0  time, nanoseconds
//   word 1  kind, bits 0..7; words of the body, bits 8..15
struct TraceRecord {
  static constexpr std::size_t header_words = 2;
  static constexpr std::size_t max_body = 96;

  std::array<std::uint64_t, header_words + max_body> words;  // the first size() of them count
  std::size_t count = 0;

  std::span<const std::uint64_t> span() const noexcept { return {words.data(), count}; }
};

// One that was read. The body points into the track.
struct TraceView {
  Time at;
  TraceKind kind;
  std::span<const std::uint64_t> words;  // header and body

  std::span<const std::uint64_t> body() const noexcept { return words.subspan(TraceRecord::header_words); }
};

// `at`: the time of the record, for types that have none of their own.
template <typename T>
void encode(const T& item, Time at, TraceRecord& record) noexcept {
  static_assert(kind_of<T> != TraceKind{}, "not a type that a trace holds");
  trace::WordWriter body(record.words.data() + TraceRecord::header_words);
  trace::fields(body, const_cast<T&>(item));  // the writer only reads it
  if constexpr (requires { item.at; } && !std::is_same_v<T, Arm>) at = item.at;
  record.words[0] = static_cast<std::uint64_t>(at.time_since_epoch().count());
  record.words[1] = static_cast<std::uint64_t>(kind_of<T>) | body.words() << 8;
  record.count = TraceRecord::header_words + body.words();
}

// Those that stand in a variant.
void encode(const Fact& fact, TraceRecord& record) noexcept;
void encode(const Command& command, Time at, TraceRecord& record) noexcept;

// Whether a Lane may be given it: what was never recorded could be beyond the arithmetic of its times.
bool is_sound(const LaneTask& task) noexcept;

// Nothing when the record is of another kind, its body has another length, or a word is out of its field's range.
template <typename T>
std::optional<T> decode(const TraceView& view) noexcept {
  if (view.kind != kind_of<T>) return std::nullopt;
  T item{};
  trace::WordReader body(view.body());
  trace::fields(body, item);
  if (!body.ok() || body.left() > 0) return std::nullopt;
  if constexpr (requires { item.at; } && !std::is_same_v<T, Arm>) item.at = view.at;
  return item;
}

// Nothing when it is none, or not as it should be.
std::optional<Fact> fact_of(const TraceView& view) noexcept;

// The first record of `words`; nothing when there is no whole one, or its time is beyond all that occurs.
std::optional<TraceView> first_record(std::span<const std::uint64_t> words) noexcept;

// For people: "run job=7 task=3 priority=2 released=1500 deadline=9500", times in nanoseconds. Allocates.
std::string text_of(const TraceView& view);

}  // namespace corelane::sched
