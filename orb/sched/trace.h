// Trace: what a Manager or a Lane was told, and what it answered, as records of 64-bit words; with what the runtime
// observed beside it. A recorded run holds all that orb/sim/replay needs to come to the same commands again.
//
// One record is a time, a kind (trace_kinds.h) and a body (trace_words.h). docs/recorder.md has the table. A changed
// body is a new trace_version.
//
// Threads: pure functions and values. encode() allocates nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

#include "orb/base/time.h"
#include "orb/sched/trace_kinds.h"
#include "orb/sched/trace_words.h"

namespace corelane::sched {

inline constexpr std::uint64_t trace_version = 5;

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
