#include "orb/sched/trace/trace.h"

#include <algorithm>

namespace corelane::sched {
namespace {

struct KindText {
  TraceKind kind;
  std::string_view name;
  std::string_view words;  // the names of the words, in order; optional words come last
};

using K = TraceKind;
constexpr KindText kinds[] = {
    {K::arrived, "arrived",
     "job task peer has_contract period deadline budget jitter suspension importance on_overrun intensity r1 "
     "section1 r2 section2 r3 section3 r4 section4"},
    {K::proposed, "proposed",
     "request peer period deadline budget jitter suspension importance on_overrun intensity r1 section1 r2 section2 "
     "r3 section3 r4 section4"},
    {K::departed, "departed", "task"},
    {K::peer_lost, "peer_lost", "peer"},
    {K::core_lost, "core_lost", "core"},
    {K::core_returned, "core_returned", "core"},
    {K::vacated, "vacated", "task core"},
    {K::finished, "finished", "job task used"},
    {K::overran, "overran", "job task used"},
    {K::suspended, "suspended", "job task"},
    {K::resumed, "resumed", "job task"},
    {K::elapsed, "elapsed", "timer"},
    {K::early_allowed, "early_allowed", "allowed"},
    {K::task_added, "task_added",
     "task period deadline budget jitter suspension importance on_overrun intensity r1 section1 r2 section2 r3 "
     "section3 r4 section4 priority"},
    {K::join_asked, "join_asked",
     "task period deadline budget jitter suspension importance on_overrun intensity r1 section1 r2 section2 r3 "
     "section3 r4 section4 priority"},
    {K::priority_set, "priority_set", "task priority"},
    {K::vacate_asked, "vacate_asked", "task"},
    {K::dismiss_asked, "dismiss_asked", "task"},
    {K::task_taken, "task_taken", "task"},
    {K::task_put, "task_put",
     "task period deadline budget jitter suspension importance on_overrun intensity r1 section1 r2 section2 r3 "
     "section3 r4 section4 priority tat running busy started held joining vacating leaving demoted overran granted "
     "borrows place shares suspended suspended_at slept order waiting"},
    {K::capacity_set, "capacity_set", "core capacity"},
    {K::interference_set, "interference_set", "core loads"},
    {K::interference_load, "interference_load", "budget period jitter blocking"},
    {K::closed_set, "closed_set", "core closed"},
    {K::repack_set, "repack_set", "allowed"},
    {K::admit, "admit",
     "request task peer core priority period deadline budget jitter suspension importance on_overrun intensity r1 "
     "section1 r2 section2 r3 section3 r4 section4 response startable_at waits_for_idle"},
    {K::place, "place", "job task core"},
    {K::reprioritize, "reprioritize", "task core priority"},
    {K::vacate, "vacate", "task core"},
    {K::move, "move", "task from to priority"},
    {K::dismiss, "dismiss", "task core"},
    {K::evict, "evict",
     "task peer core code closest loser response deadline fit_period fit_deadline fit_budget peer_tasks"},
    {K::refuse, "refuse", "job code closest loser response deadline fit_period fit_deadline fit_budget peer_tasks"},
    {K::run, "run", "job task priority released deadline"},
    {K::defer, "defer", "job task until"},
    {K::demote, "demote", "job task"},
    {K::cancel, "cancel", "job task"},
    {K::watch, "watch", "job task budget"},
    {K::arm, "arm", "timer at"},
    {K::report_vacated, "report_vacated", "task core"},
    {K::ceiling, "ceiling", "resource core priority"},
    {K::joined, "joined", "task core"},
    {K::postpone, "postpone", "request startable_at"},
    {K::started, "started", "job task"},
    {K::missed, "missed", "job task released deadline"},
    {K::blocked, "blocked", "job task waited"},
    {K::overslept, "overslept", "job task slept"},
    {K::turned_away, "turned_away", "job task code"},
    {K::named, "named", "task"},
};

const KindText* find(TraceKind kind) noexcept {
  const auto* const at =
      std::find_if(std::begin(kinds), std::end(kinds), [&](const KindText& k) { return k.kind == kind; });
  return at == std::end(kinds) ? nullptr : at;
}

}  // namespace

namespace trace {

Named Named::make(TaskId task, std::string_view name) noexcept {
  Named named{.task = task};
  name.copy(named.text.data(), room);
  return named;
}

std::string_view Named::name() const noexcept {
  const std::string_view all(text.data(), text.size());
  return all.substr(0, all.find('\0'));
}

}  // namespace trace

std::string_view name_of(TraceKind kind) noexcept {
  const KindText* found = find(kind);
  return found ? found->name : std::string_view{};
}

void encode(const Fact& fact, TraceRecord& record) noexcept {
  std::visit([&](const auto& f) { encode(f, f.at, record); }, fact);
}

void encode(const Command& command, Time at, TraceRecord& record) noexcept {
  std::visit([&](const auto& c) { encode(c, at, record); }, command);
}

bool is_sound(const ScheduledTask& task) noexcept {
  const auto occurs = [](Time t) { return t != never; };
  if (!is_sound(task.contract) || task.waiting_count > max_waiting) return false;
  if (!occurs(task.tat) || !occurs(task.place) || !occurs(task.suspended_at) || task.slept == Duration::max() ||
      task.granted == Duration::max())
    return false;
  return std::all_of(task.waiting.begin(), task.waiting.end(), [&](const WaitingJob& job) {
    return occurs(job.released) && occurs(job.nominal) && occurs(job.eligible);
  });
}

namespace {

// Rejects an Overran with a time that no runtime can produce. Code that adds to such a time could overflow.
std::optional<Overran> sound(const std::optional<Overran>& fact) noexcept {
  const bool occurs = fact && fact->used >= Duration::zero() && fact->used != Duration::max();
  return occurs ? fact : std::nullopt;
}

}  // namespace

std::optional<Fact> fact_of(const TraceView& view) noexcept {
  const auto as = [&]<typename T>(std::optional<T> fact) { return fact ? std::optional<Fact>(*fact) : std::nullopt; };
  switch (view.kind) {
    case K::arrived:
      return as(decode<Arrived>(view));
    case K::proposed:
      return as(decode<Proposed>(view));
    case K::departed:
      return as(decode<Departed>(view));
    case K::peer_lost:
      return as(decode<PeerLost>(view));
    case K::core_lost:
      return as(decode<CoreLost>(view));
    case K::core_returned:
      return as(decode<CoreReturned>(view));
    case K::vacated:
      return as(decode<Vacated>(view));
    case K::finished:
      return as(decode<Finished>(view));
    case K::overran:
      return as(sound(decode<Overran>(view)));
    case K::suspended:
      return as(decode<Suspended>(view));
    case K::resumed:
      return as(decode<Resumed>(view));
    case K::elapsed:
      return as(decode<Elapsed>(view));
    default:
      return std::nullopt;
  }
}

std::optional<TraceView> first_record(std::span<const std::uint64_t> words) noexcept {
  if (words.size() < TraceRecord::header_words) return std::nullopt;
  const std::size_t body = words[1] >> 8;
  const auto at = static_cast<std::int64_t>(words[0]);
  const bool sound = body <= TraceRecord::max_body && body <= words.size() - TraceRecord::header_words &&
                     at > -trace::longest_time && at < trace::longest_time;
  if (!sound) return std::nullopt;
  return TraceView{.at = Time{Duration{at}},
                   .kind = static_cast<TraceKind>(words[1] & 0xff),
                   .words = words.first(TraceRecord::header_words + body)};
}

std::string text_of(const TraceView& view) {
  const KindText* found = find(view.kind);
  if (!found) return "unknown kind " + std::to_string(static_cast<int>(view.kind));
  std::string text(found->name);
  std::string_view names = found->words;
  for (const std::uint64_t word : view.body()) {  // bound: the words of one body
    if (names.empty()) break;
    const std::string_view name = names.substr(0, names.find(' '));
    names.remove_prefix(std::min(names.size(), name.size() + 1));
    text.append(" ").append(name).append("=").append(std::to_string(static_cast<std::int64_t>(word)));
  }
  if (const auto named = decode<trace::Named>(view)) text.append(" ").append(named->name());
  return text;
}

}  // namespace corelane::sched
