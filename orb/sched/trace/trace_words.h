// The body of a record: the fields of its type, in order, one word each. Signed values are sign-extended. A contract
// takes 16 words. An optional field is preceded by a flag.
//
// Threads: pure. Allocates nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>

#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/sched/trace/trace_kinds.h"

namespace corelane::sched {

namespace trace {

// The fields of each type, in the order of the words. The time `at` is in the header. The binding names all members, so
// a new member does not compile until this file is changed: add it to the words, too, and give trace_version the next
// number.
// clang-format off
template <typename Io> void fields(Io& io, ResourceUse& x) { auto& [resource, longest] = x; io(resource, longest); }
template <typename Io> void fields(Io& io, Contract& x) { auto& [period, deadline, budget, jitter, suspension, importance, on_overrun, intensity, uses] = x; io(period, deadline, budget, jitter, suspension, importance, on_overrun, intensity, uses); }
template <typename Io> void fields(Io& io, Nearest& x) { auto& [period, deadline, budget, jitter, suspension] = x; io(period, deadline, budget); }  // the Manager's refusals have none
template <typename Io> void fields(Io& io, Refusal& x) { auto& [code, closest, loser, response, deadline, nearest, peer_tasks, peer_holds, peer_may, jitter, tasks, platform, others, others_platform, unproposed, loser_name, takes_none, by_bound, unallocated, slowed, loser_slowed] = x; io(code, closest, loser, response, deadline, nearest, peer_tasks); }
template <typename Io> void fields(Io& io, PlatformLoad& x) { auto& [budget, period, jitter, blocking] = x; io(budget, period, jitter, blocking); }
template <typename Io> void fields(Io& io, WaitingJob& x) { auto& [job, released, nominal, eligible] = x; io(job, released, nominal, eligible); }

template <typename Io> void fields(Io& io, Arrived& x) { auto& [at, job, task, peer, contract] = x; io(job, task, peer, contract); }
template <typename Io> void fields(Io& io, Proposed& x) { auto& [at, request, peer, contract] = x; io(request, peer, contract); }
template <typename Io> void fields(Io& io, Departed& x) { auto& [at, task] = x; io(task); }
template <typename Io> void fields(Io& io, PeerLost& x) { auto& [at, peer] = x; io(peer); }
template <typename Io> void fields(Io& io, CoreLost& x) { auto& [at, core] = x; io(core); }
template <typename Io> void fields(Io& io, CoreReturned& x) { auto& [at, core] = x; io(core); }
template <typename Io> void fields(Io& io, Vacated& x) { auto& [at, task, core] = x; io(task, core); }
template <typename Io> void fields(Io& io, Finished& x) { auto& [at, job, task, used] = x; io(job, task, used); }
template <typename Io> void fields(Io& io, Overran& x) { auto& [at, job, task, used] = x; io(job, task, used); }
template <typename Io> void fields(Io& io, Suspended& x) { auto& [at, job, task] = x; io(job, task); }
template <typename Io> void fields(Io& io, Resumed& x) { auto& [at, job, task] = x; io(job, task); }
template <typename Io> void fields(Io& io, Elapsed& x) { auto& [at, timer] = x; io(timer); }

template <typename Io> void fields(Io& io, Admit& x) { auto& [request, task, peer, core, priority, contract, response, startable_at, waits_for_idle] = x; io(request, task, peer, core, priority, contract, response, startable_at, waits_for_idle); }
template <typename Io> void fields(Io& io, Postpone& x) { auto& [request, startable_at] = x; io(request, startable_at); }
template <typename Io> void fields(Io& io, Dispatch& x) { auto& [job, task, core] = x; io(job, task, core); }
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
template <typename Io> void fields(Io& io, Overslept& x) { auto& [at, job, task, slept] = x; io(job, task, slept); }
template <typename Io> void fields(Io& io, Missed& x) { auto& [at, job, task, released, deadline] = x; io(job, task, released, deadline); }
template <typename Io> void fields(Io& io, TurnedAway& x) { auto& [at, job, task, reason] = x; io(job, task, reason); }
template <typename Io> void fields(Io& io, Named& x) { auto& [task, text] = x; io(task, text); }
// clang-format on

template <typename Io>
void fields(Io& io, ScheduledTask& x) {
  auto& [id, contract, priority, tat, running, busy, started, held, joining, vacating, leaving, demoted, overran,
         granted, borrows, place, shares, suspended, suspended_at, slept, order, waiting, waiting_count, jobs, deferred,
         overruns] = x;
  io(id, contract, priority, tat, running, busy, started, held, joining, vacating, leaving, demoted, overran, granted,
     borrows, place, shares, suspended, suspended_at, slept, order, waiting_count);
  io(waiting, jobs, deferred, overruns);
}

// ---- Words --------------------------------------------------------------------------------------------------------

// Far larger than real times, so that sums of a few times do not overflow. Duration::max() and `never` are still valid
// values.
inline constexpr std::int64_t longest_time = std::int64_t{1} << 60;

template <typename T>
struct IsArray : std::false_type {};
template <typename T, std::size_t size>
struct IsArray<std::array<T, size>> : std::true_type {};

template <typename T>
struct IsId : std::false_type {};
template <typename Tag, typename Rep>
struct IsId<Id<Tag, Rep>> : std::true_type {};

// Writes fields as words. Bound: the number of fields.
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

// Reads fields from words. If a word does not fit into its field or is missing, ok() becomes false and the rest reads
// as zero.
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

}  // namespace corelane::sched
