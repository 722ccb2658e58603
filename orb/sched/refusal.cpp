#include "orb/sched/refusal.h"

#include <algorithm>
#include <iterator>

#include "orb/base/fraction.h"
#include "orb/base/minor.h"
#include "orb/base/text/one_line.h"

namespace corelane::sched {
namespace {

struct Entry {
  RefusalCode code;
  std::string_view name;
  std::string_view sentence;
  ErrorKind kind;
  std::uint32_t minor;
};

constexpr Entry entries[] = {
    {RefusalCode::not_schedulable, "not_schedulable", "a deadline would be missed on every core",
     ErrorKind::no_resources, minor::not_schedulable},
    {RefusalCode::no_core, "no_core", "this process holds no core", ErrorKind::no_resources, minor::no_core_leased},
    {RefusalCode::too_many_tasks, "too_many_tasks", "the server's table of tasks is full; raise limits.tasks there",
     ErrorKind::no_resources, minor::too_many_tasks},
    {RefusalCode::bad_contract, "bad_contract", "a field of the contract is out of its range", ErrorKind::bad_param,
     minor::bad_contract},
    {RefusalCode::unknown_task, "unknown_task", "the task was never admitted here or has left; admit it again",
     ErrorKind::bad_param, minor::unknown_task},
    {RefusalCode::job_waiting, "job_waiting", "a job of this task waits already", ErrorKind::transient,
     minor::job_waiting},
    {RefusalCode::analysis_limit, "analysis_limit",
     "the analysis reached its limit of steps, or every core has 255 tasks, the most that can be analyzed",
     ErrorKind::no_resources, minor::analysis_limit},
    {RefusalCode::reorganizing, "reorganizing", "tasks are being moved for another task; ask again",
     ErrorKind::transient, minor::not_schedulable},
    {RefusalCode::peer_limit, "peer_limit",
     "this client has as much utilization or as many tasks as one client may have: limits.peer_utilization, "
     "limits.peer_tasks",
     ErrorKind::no_resources, minor::not_schedulable},
    {RefusalCode::core_lost, "core_lost", "the task's core was lost and no other can take it", ErrorKind::no_resources,
     minor::no_core_leased},
    {RefusalCode::backlog, "backlog", "the deadline spans more periods than jobs may wait", ErrorKind::bad_param,
     minor::bad_contract},
    {RefusalCode::overrun_policy, "overrun_policy",
     "budgets are not watched in dispatch.mode leader-followers, so demote and cancel would have no effect: use report",
     ErrorKind::bad_param, minor::overrun_policy},
    {RefusalCode::other_process_late, "other_process_late", "another process's task would be late",
     ErrorKind::no_resources, minor::other_process_late},
    {RefusalCode::peer_urgency, "peer_urgency", "a peer may not have a deadline this short", ErrorKind::no_resources,
     minor::not_schedulable},
    {RefusalCode::resources_apart, "resources_apart",
     "the task locks resources whose other users are on different cores, and all users of a resource have to be on one "
     "core",
     ErrorKind::no_resources, minor::not_schedulable},
    {RefusalCode::unused, "unused",
     "the server ended the task, because no call used it for timeout.idle_tasks; admit it again",
     ErrorKind::no_resources, minor::unknown_task},
    {RefusalCode::ended, "ended", "the server's operator ended the task (corelane tasks end); it may be admitted again",
     ErrorKind::no_resources, minor::unknown_task},
};

// A code from a peer or a shared page of a later version.
constexpr Entry unknown{RefusalCode{}, "unknown", "the server has a reason that this version does not know",
                        ErrorKind::no_resources, minor::not_schedulable};

const Entry& entry_of(RefusalCode code) noexcept {
  for (const Entry& entry : entries)
    if (entry.code == code) return entry;
  return unknown;
}

std::string loser_text(const Refusal& refusal) {
  const std::string name = refusal.loser_name.data();
  return name.empty() ? "task " + std::to_string(refusal.loser.value) : name;
}

std::string closest_text(const Refusal& refusal) {
  if (refusal.code == RefusalCode::other_process_late)
    return " on core " + std::to_string(refusal.closest.value) + "; use fewer processes or cores";
  if (refusal.code == RefusalCode::analysis_limit && refusal.response == Duration::max()) return {};
  std::string text = "; closest is core " + std::to_string(refusal.closest.value);
  if (refusal.response == Duration::max()) return text + ", which has no room for this utilization";
  text += refusal.loser == no_task ? ", response " : ", where " + loser_text(refusal) + " responds in ";
  text += to_string(rounded(refusal.response, Rounding::up));
  if (refusal.jitter > Duration::zero()) text += " (" + to_string(refusal.jitter) + " of it release jitter)";
  return text + " against deadline " + to_string(refusal.deadline);
}

// Returns a percentage rounded to a tenth, but never to 0 if the value is positive.
std::string percent_text(std::int64_t ppm) {
  const std::int64_t tenths = std::max<std::int64_t>(ppm > 0 ? 1 : 0, (ppm + 500) / 1000);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " %";
}

// Returns a limit as a percentage. A limit below a tenth of a percent is written exactly, such as "0.005 %".
std::string limit_text(std::int64_t ppm) {
  if (ppm <= 0 || ppm >= 1000) return percent_text(ppm);
  const std::string digits = std::to_string(10'000 + ppm).substr(1);
  return "0." + digits.substr(0, digits.find_last_not_of('0') + 1) + " %";
}

// Returns the parts with the names that `corelane top` shows.
std::string parts_text(std::int64_t tasks, std::int64_t platform) {
  return "tasks " + percent_text(tasks) + ", platform load " + percent_text(platform);
}

std::string own_text(const Refusal& refusal) {
  if (refusal.tasks == 0 && refusal.platform == 0) return {};
  return "; this server holds of that core: " + parts_text(refusal.tasks, refusal.platform);
}

std::string others_text(const Refusal& refusal) {
  if (refusal.others == 0) return {};
  const std::string all = "; other servers of this host hold " + percent_text(refusal.others) + " of that core";
  if (refusal.others_platform == 0) return all;
  return all + ": " + parts_text(refusal.others - refusal.others_platform, refusal.others_platform);
}

std::string slowed_text(const std::string& task, const SlowedBudget& slowed) {
  if (slowed.asked == Duration::zero()) return {};
  return "; " + task + " is analyzed with a budget of " + to_string(rounded(slowed.analyzed, Rounding::up)) +
         " in place of " + to_string(slowed.asked) + ": " + as_one_line(slowed.beside.data()) +
         " on each other core of its cache slows it down by a factor of " + decimal(Fraction{slowed.factor}) +
         ", which is an estimate (dispatch.slowdowns)";
}

std::string unallocated_text(const Refusal& refusal) {
  const std::string core =
      refusal.unallocated == Unallocated::no_core
          ? "no core for it"
          : "core " + std::to_string(refusal.closest.value) + ", on which the admission test does not admit it";
  return "the allocation function returned " + core + "; return a core whose `fits` is true";
}

std::string sentence_of(const Refusal& refusal) {
  if (refusal.code == RefusalCode::peer_limit && refusal.peer_may > 0)
    return "the peer holds " + percent_text(refusal.peer_holds) +
           " of a core with its tasks, and with this one it would hold more than the " + limit_text(refusal.peer_may) +
           " that one peer may: limits.peer_utilization";
  if (refusal.code == RefusalCode::not_schedulable && refusal.by_bound)
    return "the admission test admits it on no core; that test may refuse more tasks than necessary";
  if (refusal.code == RefusalCode::too_many_tasks && refusal.takes_none)
    return "this server takes no tasks (limits.tasks = 0)";
  if (refusal.code != RefusalCode::peer_limit || refusal.peer_tasks == 0)
    return std::string(entry_of(refusal.code).sentence);
  return "the peer has as many tasks as one peer may: limits.peer_tasks is " + std::to_string(refusal.peer_tasks);
}

// Returns "{.period = 20ms, .deadline = 20ms, ...}" for C++, or the form of IDL and TOML: period = "20ms", deadline =
// "20ms".
std::string text_of(const Nearest& nearest, bool as_cpp) {
  std::string text;
  const auto add = [&](const char* field, Duration value) {
    text += text.empty() ? "" : ", ";
    text += as_cpp ? "." + std::string(field) + " = " + to_string(value)
                   : std::string(field) + " = \"" + to_string(value) + "\"";
  };
  add("period", nearest.period);
  add("deadline", nearest.deadline);
  add("budget", nearest.budget);
  add("jitter", nearest.jitter);
  if (nearest.suspension > Duration::zero()) add("suspension", nearest.suspension);
  return as_cpp ? "{" + text + "}" : text;
}

std::string proposal_text(const Refusal& refusal) {
  if (refusal.nearest.found())
    return "; this contract would fit, with all else as it was asked for: in C++ " + text_of(refusal.nearest, true) +
           ", in IDL or TOML " + text_of(refusal.nearest, false);
  switch (refusal.unproposed) {
    case Unproposed::nothing_fits:
      return "; neither a longer period, a later deadline nor a smaller budget alone would fit";
    case Unproposed::beside_others:
      return "; nothing is proposed, since it might delay tasks of other servers of this host";
    case Unproposed::no_time:
      return "; nothing is proposed, since there was no time to look for it";
    case Unproposed::not_asked:
      break;
  }
  return {};
}

// Copies the end of the label, as far as there is room for whole characters of UTF-8. The last byte stays zero.
void copy_end(std::string_view label, std::array<char, 32>& out) noexcept {
  const std::size_t room = out.size() - 1;
  const auto begins_inside = [&label] { return (static_cast<unsigned char>(label.front()) & 0xc0u) == 0x80u; };
  if (label.size() > room) {
    label.remove_prefix(label.size() - room);
    while (!label.empty() && begins_inside()) label.remove_prefix(1);  // bound: the room
  }
  out = {};
  label.copy(out.data(), room);
}

}  // namespace

Duration rounded(Duration value, Rounding rounding) noexcept {
  std::int64_t grain = 1;
  while (value.count() / grain >= 10'000) grain *= 10;  // bound: the digits of an int64
  const std::int64_t grains = value.count() / grain + (rounding == Rounding::up && value.count() % grain != 0 ? 1 : 0);
  return Duration{grains * grain};
}

void name_loser(Refusal& refusal, std::string_view label, Duration jitter) noexcept {
  copy_end(label, refusal.loser_name);
  refusal.jitter = jitter;
}

void name_beside(SlowedBudget& slowed, std::string_view label) noexcept { copy_end(label, slowed.beside); }

std::string_view name_of(RefusalCode code) noexcept { return entry_of(code).name; }

Error error_of(const Refusal& refusal) noexcept {
  const Entry& entry = entry_of(refusal.code);
  return {.kind = entry.kind, .completed = Completion::no, .minor = entry.minor};
}

bool is_minor_of_refusal(std::uint32_t minor) noexcept {
  return std::ranges::find(entries, minor, &Entry::minor) != std::end(entries);
}

std::string text_of(const Refusal& refusal) {
  if (refusal.unallocated != Unallocated::none) return unallocated_text(refusal);
  std::string text = sentence_of(refusal);
  if (refusal.code == RefusalCode::peer_urgency) text += "; the least is " + to_string(refusal.deadline);
  if (refusal.closest != no_core) text += closest_text(refusal);
  if (refusal.closest != no_core) text += own_text(refusal) + others_text(refusal);
  text += slowed_text("it", refusal.slowed) + slowed_text(loser_text(refusal), refusal.loser_slowed);
  return text + proposal_text(refusal);
}

}  // namespace corelane::sched
