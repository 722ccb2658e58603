#include "services/corelane/simulate/run_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "orb/base/contract.h"
#include "orb/base/text/counted.h"
#include "services/corelane/output/json_text.h"
#include "services/corelane/output/overheads_text.h"
#include "services/corelane/output/text.h"

namespace corelane::tool {
namespace {

using eval::JobRecord;
using eval::RunOutcome;
using eval::RunRequest;
using eval::TaskOutcome;
using RunJson = nlohmann::ordered_json;

constexpr std::size_t shown_misses = 5;

bool ended(const JobRecord& job) { return job.finish != Duration::max(); }

std::string hash_text(const RunOutcome& outcome) {
  return format("%016llx", static_cast<unsigned long long>(outcome.trace_hash));
}

std::string line_of(const eval::Task& task, const TaskOutcome& outcome) {
  const Contract& c = task.contract;
  const std::string core = outcome.core == no_core ? "-" : std::to_string(outcome.core.value);
  const bool is_bounded = outcome.bound > Duration::zero(), has_run = outcome.finished > 0;
  return format("%4s %9s %9s %9s %9s %9s %9s %8llu %8llu  ", core.c_str(), to_string(c.period).c_str(),
                to_string(c.deadline).c_str(), to_string(c.budget).c_str(),
                is_bounded ? brief(outcome.bound).c_str() : "-", has_run ? brief(outcome.worst).c_str() : "-",
                has_run ? brief(outcome.mean()).c_str() : "-", static_cast<unsigned long long>(outcome.jobs),
                static_cast<unsigned long long>(outcome.misses)) +
         plain(outcome.label) + "\n" + (outcome.admitted ? "" : refusal_lines(outcome.refusal));
}

std::string line_of(const JobRecord& job, const RunOutcome& outcome) {
  std::string text = "  " + plain(outcome.tasks[job.task].label) + ", job " + std::to_string(job.number) +
                     ": released at " + brief(job.release) + ", deadline " + brief(job.deadline) + ", ";
  if (!ended(job)) return text + "not finished\n";
  return text + "finished at " + brief(job.finish) + " on core " + std::to_string(job.core.value) +
         (job.cause == eval::MissCause::overrun ? ", after an overrun\n" : "\n");
}

std::string misses_text(const RunOutcome& outcome) {
  if (outcome.misses.empty()) return {};
  std::string text = "The first misses:\n";
  for (std::size_t i = 0; i < std::min(shown_misses, outcome.misses.size()); ++i)
    text += line_of(outcome.misses[i], outcome);
  return text;
}

eval::RunOverheads shown_overheads(const RunRequest& request) {
  return eval::overheads_in(request.dispatcher->mode, request.overheads);
}

std::string table_of_run(const RunRequest& request, const RunOutcome& outcome) {
  std::string text = counted(request.tasks.size(), "task") + " on " + counted(request.cores.size(), "core") + " for " +
                     to_string(request.length) + " under " + std::string(request.dispatcher->name) +
                     "; platform load " + to_string(request.server.platform.budget) + " in each " +
                     to_string(request.server.platform.period) + "\n" + overheads_line(shown_overheads(request)) + "\n";
  text += format("%4s %9s %9s %9s %9s %9s %9s %8s %8s  %s\n", "core", "T", "D", "C", "bound", "worst", "mean", "jobs",
                 "missed", "task");
  std::uint64_t jobs = 0, misses = 0;
  for (std::size_t i = 0; i < outcome.tasks.size(); ++i) {
    text += line_of(request.tasks[i], outcome.tasks[i]);
    jobs += outcome.tasks[i].jobs, misses += outcome.tasks[i].misses;
  }
  text += "\n" + std::to_string(misses) + " of " + counted(jobs, "deadline is", "deadlines are") + " missed.\n" +
          misses_text(outcome);
  for (const std::string& note : outcome.notes) text += "Note: " + plain(note) + ".\n";
  return text + "Trace " + hash_text(outcome) + ".\n";
}

RunJson json_of(const eval::Task& task, const TaskOutcome& outcome) {
  const Contract& c = task.contract;
  RunJson json{{"label", outcome.label},        {"period_ns", c.period.count()}, {"deadline_ns", c.deadline.count()},
               {"budget_ns", c.budget.count()}, {"jitter_ns", c.jitter.count()}, {"admitted", outcome.admitted}};
  if (!outcome.admitted) {
    json["refusal"] = outcome.refusal;
    return json;
  }
  if (outcome.core != no_core) json["core"] = outcome.core.value;
  if (outcome.bound > Duration::zero()) json["bound_ns"] = outcome.bound.count();
  if (outcome.finished > 0) {
    json["worst_ns"] = outcome.worst.count();
    json["mean_ns"] = outcome.mean().count();
  }
  json["jobs"] = outcome.jobs;
  json["misses"] = outcome.misses;
  json["overruns"] = outcome.overruns;
  return json;
}

RunJson json_of(const JobRecord& job, const RunOutcome& outcome) {
  RunJson json{{"task", outcome.tasks[job.task].label},
               {"job", job.number},
               {"release_ns", job.release.count()},
               {"deadline_ns", job.deadline.count()}};
  if (!ended(job)) return json;
  json["start_ns"] = job.start.count();
  json["finish_ns"] = job.finish.count();
  json["core"] = job.core.value;
  return json;
}

RunJson json_of(const RunRequest& request, const RunOutcome& outcome) {
  RunJson json{{"dispatcher", std::string(request.dispatcher->name)},
               {"length_ns", request.length.count()},
               {"cores", request.cores.size()},
               {"trace", hash_text(outcome)},
               {"tasks", RunJson::array()},
               {"misses", RunJson::array()}};
  if (const auto overheads = shown_overheads(request); !eval::text_of(overheads).empty())
    json["overheads"] = overheads_json(overheads);
  for (std::size_t i = 0; i < outcome.tasks.size(); ++i)
    json["tasks"].push_back(json_of(request.tasks[i], outcome.tasks[i]));
  for (const JobRecord& job : outcome.misses) json["misses"].push_back(json_of(job, outcome));
  if (!outcome.notes.empty()) json["notes"] = outcome.notes;
  return json;
}

}  // namespace

std::string text_of(const eval::RunRequest& request, const eval::RunOutcome& outcome, Format shown_as) {
  return shown_as == Format::table ? table_of_run(request, outcome) : json_lines(json_of(request, outcome));
}

}  // namespace corelane::tool
