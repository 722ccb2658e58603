#include "examples/pendulum/closing.h"

#include <algorithm>
#include <utility>

#include "examples/pendulum/table.h"
#include "orb/base/text/counted.h"

namespace corelane::pendulum {
namespace {

using Participants = std::vector<Participant>;

constexpr std::size_t most_of_reason = 80;  // characters

// Returns the task of an admitted participant; null if it was not admitted.
const TaskRow* row_of(const Participant& participant, const ServerReport& report) {
  const auto found = std::ranges::find(report.tasks, participant.answer.task, &TaskRow::task);
  return participant.answer.admitted && found != report.tasks.end() ? &*found : nullptr;
}

// Returns whether none of its calls was answered. Then the pendulum's behavior says nothing about the service.
bool had_no_answer(const ClientReport& report) { return !report.trouble.empty() && report.calls == 0; }

std::string posture(const Participant& participant) {
  const ClientReport& report = participant.report;
  if (!participant.ended.empty()) return participant.ended;
  if (had_no_answer(report)) return "no answer";
  if (report.stands) return format("stands (worst %.0f deg)", report.worst_angle * 57.3);
  return format("FELL after %.1f s", report.fell_after);
}

std::vector<std::string> cells_of(const Participant& participant, const TaskRow& row, bool promises) {
  const Contract& c = participant.contract;
  return {participant.label(),
          std::to_string(row.task),
          milliseconds(c.period),
          milliseconds(c.deadline),
          milliseconds(c.budget),
          row.core < 0 ? "-" : std::to_string(row.core),
          std::to_string(row.priority),
          std::to_string(row.jobs),
          std::to_string(row.overruns - row.excused_overruns),
          std::to_string(row.misses - row.excused),
          promises ? std::to_string(row.misses - row.excused - row.for_budgets) : "-",
          format("%.2f", row.p50 / 1000),
          format("%.2f", row.p99 / 1000),
          format("%.2f", row.max / 1000),
          row.bound > 0 ? format("%.2f", row.bound / 1000) : "-",
          posture(participant)};
}

std::string tasks_text(const Participants& participants, const ServerReport& report, bool promises) {
  Table table({"", "task", "T ms", "D ms", "C ms", "core", "prio", "jobs", "over C", "late", "broken", "p50 ms",
               "p99 ms", "max ms", "bound ms", ""});
  for (const Participant& participant : participants)
    if (const TaskRow* row = row_of(participant, report)) table.add(cells_of(participant, *row, promises));
  return "\n" + table.text();
}

// Participants with the same reason share a line.
std::string refusals_text(const Participants& participants) {
  std::vector<std::pair<std::string, std::string>> told;  // reason and numbers
  for (const Participant& participant : participants) {
    if (participant.answer.admitted || !participant.ended.empty()) continue;
    const std::string& reason = participant.answer.reason;
    const auto same = std::ranges::find(told, reason, &std::pair<std::string, std::string>::first);
    if (same == told.end())
      told.emplace_back(reason, std::to_string(participant.number));
    else
      same->second += ", " + std::to_string(participant.number);
  }
  std::string text;
  for (const auto& [reason, numbers] : told) text += "Refused: " + numbers + ": " + reason + "\n";
  return text.empty() ? text : "\n" + text;
}

std::string throttles_text(const ServerReport& report) {
  return "The kernel kept the real-time threads from a core " + counted(report.throttles, "time") +
         format(", for %.2f ms in all", report.throttled / 1000) +
         ": it leaves ordinary threads a part of each second, 50 ms unless told otherwise "
         "(kernel.sched_rt_runtime_us), "
         "and real-time threads wanted that, too: these tasks, or another program's. So a load did it and not the "
         "machine, and no miss is excused by it.\n";
}

std::string notes_text(const ServerReport& report, bool promises) {
  std::string text =
      "\nT, D, C: the period, deadline and budget that the pendulum asked for.\n"
      "over C: jobs that took more processor time than their budget.\n"
      "late: jobs that missed their deadline.\n";
  text += promises ? "broken: late jobs that no exceeded budget explains. Each is a broken promise.\n"
                     "bound: the longest response, computed at the admission. The promise is the deadline D, and "
                     "bound <= D.\n"
                   : "bound: the longest response, if one was computed.\n";
  text += format(
      "The machine stalled %llu times for more than 20 us: %.2f ms at most, %.2f ms of %.1f s in all.\n"
      "Such stalls are not the program's doing: the host of a virtual machine or a program with a higher priority "
      "takes the core. The columns do not count what they explain, and max may exceed bound by them.\n",
      static_cast<unsigned long long>(report.gaps), report.longest_gap / 1000, report.total_gap / 1000,
      report.observed / 1e6);
  if (report.throttles > 0) text += throttles_text(report);
  if (report.dropped_oneways > 0)
    text += "Oneway requests that the service dropped: " + std::to_string(report.dropped_oneways) + "\n";
  return text;
}

std::string troubles_text(const Participants& participants) {
  std::string text;
  for (const Participant& participant : participants)
    if (!participant.ended.empty()) text += participant.label() + " ended before its time: " + participant.ended + "\n";
  for (const Participant& participant : participants)
    if (!participant.report.trouble.empty()) text += participant.label() + ": " + participant.report.trouble + "\n";
  return text;
}

// The outcome of the pendulums that ran.
struct Tally {
  long admitted = 0;
  long stand = 0, fallen = 0;
  long unanswered = 0;
  long ended = 0;  // ended before they were told to
  unsigned long long jobs = 0;
  unsigned long long overruns = 0, excused_overruns = 0;
  unsigned long long misses = 0, excused = 0, for_budgets = 0;
  unsigned long long failed = 0;  // calls that ended in an exception
};

Tally tally_of(const Participants& participants, const ServerReport& report) {
  Tally sum;
  for (const Participant& participant : participants) {
    if (!participant.answer.admitted) continue;
    ++sum.admitted;
    if (!participant.runs())
      ++sum.ended;
    else if (had_no_answer(participant.report))
      ++sum.unanswered;
    else
      ++(participant.report.stands ? sum.stand : sum.fallen);
    sum.failed += participant.report.failed;
    const TaskRow* row = row_of(participant, report);
    if (row == nullptr) continue;
    sum.jobs += row->jobs;
    sum.overruns += row->overruns, sum.excused_overruns += row->excused_overruns;
    sum.misses += row->misses, sum.excused += row->excused, sum.for_budgets += row->for_budgets;
  }
  return sum;
}

// Returns how many pendulums asked, were admitted and stand, and how many deadlines were missed and why.
std::string tally_text(const Tally& sum, std::size_t asked, bool promises) {
  const auto refused = static_cast<long>(asked) - sum.admitted;
  std::string text = counted(asked, "pendulum") +
                     " asked for a task of the control service: " + std::to_string(sum.admitted) + " admitted" +
                     (promises ? "" : " unchecked") + ", " + std::to_string(refused) + " refused before it started.\n";
  text += format("Standing: %ld. Fallen: %ld.", sum.stand, sum.fallen);
  if (sum.unanswered > 0) text += format(" Without an answer: %ld.", sum.unanswered);
  if (sum.ended > 0) text += format(" Ended before their time: %ld.", sum.ended);
  text += format("\nDeadlines missed: %llu of %llu", sum.misses, sum.jobs);
  if (sum.misses > 0)
    text += format(" (%llu while the machine stalled, %llu after a job exceeded its budget, %llu otherwise)",
                   sum.excused, sum.for_budgets, sum.misses - sum.excused - sum.for_budgets);
  return text + ".\n";
}

std::string traces_text(const std::vector<std::string>& traces, const std::string& tool) {
  std::string text;
  for (const std::string& trace : traces)
    text +=
        "What led to a missed deadline was recorded, with the time of stalls as time of the jobs that they met. For a "
        "timeline, to be opened in https://ui.perfetto.dev:\n  " +
        tool + " trace --output demo.perfetto-trace " + trace + "\n";
  return text;
}

Closing broken(const std::string& how, bool real_time) {
  std::string text = "A PROMISE WAS BROKEN: " + how + ".\n";
  if (!real_time)
    text += "Without the privilege for SCHED_FIFO this is to be expected: any other program may hold the cores.\n";
  return {text, 1};
}

Closing verdict_of(const Tally& sum, const ServerReady& ready, const Conditions& conditions) {
  if (!conditions.service_end.empty())
    return {"The control service ended before its time (" + conditions.service_end +
                "), so whether it kept its promises is not known. Its tasks, its name and its cores went with it.\n",
            1};
  if (!conditions.swung) return {"The demo was ended before its pendulums were started, so nothing was shown.\n", 1};
  if (!ready.promises)
    return {
        std::string("Nothing was promised, because admission control was off.\nThe contrast: run the demo without ") +
            (conditions.admission ? ready.unpromising : "--no-admission") + ".\n",
        0};
  if (sum.admitted == 0)
    return {"No pendulum was admitted, so nothing was shown: do other programs hold this machine's cores?\n", 1};
  if (sum.failed > 0) return broken(counted(sum.failed, "call") + " of admitted tasks failed", conditions.real_time);
  if (sum.misses > sum.excused + sum.for_budgets)
    return broken(
        "an admitted task missed a deadline that neither a stall of the machine nor an exceeded budget explains",
        conditions.real_time);
  if (sum.for_budgets > 0)
    return {
        "No promise was broken, but " + counted(sum.for_budgets, "deadline was", "deadlines were") +
            " missed beside jobs that took more than their declared budget, which no promise covers: what was measured "
            "here at the start did not hold. `corelane doctor` says what this machine lacks for that.\n",
        0};
  std::string text = "Every promise was kept: no admitted task missed a deadline for a reason inside the program.\n";
  if (sum.overruns > sum.excused_overruns)
    text +=
        "But " + counted(sum.overruns - sum.excused_overruns, "job") +
        " used more than the declared budget. Those deadlines were kept because there was room, and not because they "
        "were promised.\n";
  text += "The contrast: --no-admission starts all pendulums, and deadlines are missed.\n";
  return {text, 0};
}

}  // namespace

std::string brief_reason(const std::string& reason) {
  const std::string first = reason.substr(0, reason.find("; "));
  return first.size() <= most_of_reason ? first : first.substr(0, most_of_reason) + "...";
}

Closing closing_of(const Participants& participants, const ServerReady& ready, const ServerReport& report,
                   const Conditions& conditions) {
  const Tally sum = tally_of(participants, report);
  Closing closing = verdict_of(sum, ready, conditions);
  const bool ran = conditions.service_end.empty() && conditions.swung;
  std::string text = "\n";
  if (ran) text += tally_text(sum, participants.size(), ready.promises);
  text += closing.text;
  if (ran) text += tasks_text(participants, report, ready.promises);
  text += refusals_text(participants);
  if (ran) text += notes_text(report, ready.promises);
  closing.text = text + troubles_text(participants) + traces_text(conditions.traces, conditions.tool);
  return closing;
}

}  // namespace corelane::pendulum
