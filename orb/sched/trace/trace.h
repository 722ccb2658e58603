// A trace records what a Manager or a CoreScheduler was told and what it answered, and also what the runtime observed.
// The records consist of 64-bit words. A recorded run contains all that orb/sim/replay needs to produce the same
// commands again.
//
// One record has a time, a kind (trace_kinds.h) and a body (trace_words.h). docs/recorder.md has the table of kinds. A
// change of a body needs a new trace_version.
//
// Threads: pure functions and values. encode() allocates nothing.
//
// The folder orb/sched/trace writes and reads records of what the state machines were told.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

#include "orb/base/time.h"
#include "orb/sched/trace/trace_kinds.h"
#include "orb/sched/trace/trace_words.h"

namespace corelane::sched {

inline constexpr std::uint64_t trace_version = 8;

// A record to write: two words of header, then the body.
//   word 0  time, nanoseconds
//   word 1  kind, bits 0..7; words of the body, bits 8..15
struct TraceRecord {
  static constexpr std::size_t header_words = 2;
  static constexpr std::size_t max_body = 96;

  std::array<std::uint64_t, header_words + max_body> words;  // the first `count` words are valid
  std::size_t count = 0;

  std::span<const std::uint64_t> span() const noexcept { return {words.data(), count}; }
};

// A record that was read. `words` points into the track.
struct TraceView {
  Time at;
  TraceKind kind;
  std::span<const std::uint64_t> words;  // header and body

  std::span<const std::uint64_t> body() const noexcept { return words.subspan(TraceRecord::header_words); }
};

// Encodes an item as a record. `at` is the time of the record, for types that have no time of their own.
template <typename T>
void encode(const T& item, Time at, TraceRecord& record) noexcept {
  static_assert(kind_of<T> != TraceKind{}, "not a type that a trace holds");
  trace::WordWriter body(record.words.data() + TraceRecord::header_words);
  trace::fields(body, const_cast<T&>(item));  // the writer only reads the item
  if constexpr (requires { item.at; } && !std::is_same_v<T, Arm>) at = item.at;
  record.words[0] = static_cast<std::uint64_t>(at.time_since_epoch().count());
  record.words[1] = static_cast<std::uint64_t>(kind_of<T>) | body.words() << 8;
  record.count = TraceRecord::header_words + body.words();
}

// Encode the item that the variant holds.
void encode(const Fact& fact, TraceRecord& record) noexcept;
void encode(const Command& command, Time at, TraceRecord& record) noexcept;

// Returns whether this state may be given to a CoreScheduler. Values that were never recorded could overflow the
// CoreScheduler's arithmetic of times.
bool is_sound(const ScheduledTask& task) noexcept;

// Decodes a record. Returns nothing if the record is of another kind, its body has another length, or a word is out of
// its field's range.
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

// Returns the fact that the record holds, or nothing if it holds no fact or an invalid one.
std::optional<Fact> fact_of(const TraceView& view) noexcept;

// Returns the first record in `words`. Returns nothing if there is no complete record or its time is out of range.
std::optional<TraceView> first_record(std::span<const std::uint64_t> words) noexcept;

// Returns a text for the user, such as "run job=7 task=3 priority=2 released=1500 deadline=9500". Times are in
// nanoseconds. Allocates.
std::string text_of(const TraceView& view);

}  // namespace corelane::sched
