#include "services/corelane/trace/trace_summary.h"

#include <algorithm>
#include <set>
#include <utility>

#include "orb/base/text/counted.h"
#include "services/corelane/trace/overrun_jobs.h"

namespace corelane::tool {
namespace {

using namespace sched;  // this whole file uses its facts and commands

// Counts one track after the other, each from its beginning.
class Count {
 public:
  explicit Count(TraceSummary& summary) : summary_(summary) {}

  void add(const TraceView& record) {
    if (record.at != Time{}) {  // otherwise recorded before the first fact
      summary_.first = std::min(summary_.first, record.at);
      summary_.last = std::max(summary_.last, record.at);
    }
    note_run(record);
    note_trouble(record);
  }
  // Adds what is known only at the end. Tasks without trouble need no name.
  void end() {
    for (const TaskId task : overruns_.tasks())
      summary_.overruns += summary_.troubles[task].overruns = overruns_.count(task);
    for (const auto& [task, job] : missed_)
      if (away_.contains(job) || overruns_.has(task, job)) ++summary_.troubles[task].own_misses;
    for (auto& [task, trouble] : summary_.troubles) trouble.name = names_[task];
  }

 private:
  void note_run(const TraceView& record) {
    if (record.kind == TraceKind::started) ++summary_.started;
    if (const auto admit = decode<Admit>(record)) {
      ++summary_.admitted;
      overruns_.note_budget(admit->task, admit->contract.budget);
    }
    if (const auto added = decode<trace::TaskAdded>(record)) overruns_.note_budget(added->task, added->contract.budget);
    if (const auto join = decode<trace::JoinAsked>(record)) overruns_.note_budget(join->task, join->contract.budget);
    if (const auto named = decode<trace::Named>(record)) names_[named->task] = named->name();
    if (const auto arrived = decode<Arrived>(record)) latest_ = {arrived->job, arrived->task};
    if (const auto finished = decode<Finished>(record)) {
      ++summary_.finished;
      overruns_.note(*finished);
    }
  }
  void note_trouble(const TraceView& record) {
    if (const auto overran = decode<Overran>(record)) overruns_.note(*overran);
    if (const auto missed = decode<trace::Missed>(record)) {
      note(missed->task, &TaskTrouble::misses, summary_.misses);
      missed_.emplace_back(missed->task, missed->job);
    }
    if (const auto slept = decode<trace::Overslept>(record)) {
      note(slept->task, &TaskTrouble::oversleeps, summary_.oversleeps);
      away_.insert(slept->job);
    }
    if (const auto blocked = decode<trace::Blocked>(record)) {
      note(blocked->task, &TaskTrouble::blocks, summary_.blocks);
      away_.insert(blocked->job);
    }
    if (const auto away = decode<trace::TurnedAway>(record)) note(away->task, &TaskTrouble::refused, summary_.refusals);
    if (const auto refuse = decode<Refuse>(record)) note_refusal(*refuse);
  }
  // The record names the job; the record of its arrival named its task. The first job of a new task has no task yet.
  void note_refusal(const Refuse& refuse) {
    if (refuse.job == latest_.first && latest_.second != no_task)
      return note(latest_.second, &TaskTrouble::refused, summary_.refusals);
    ++summary_.refusals;
  }
  void note(TaskId task, std::size_t TaskTrouble::*field, std::size_t& sum) {
    ++(summary_.troubles[task].*field);
    ++sum;
  }

  TraceSummary& summary_;
  std::map<TaskId, std::string> names_;
  OverrunJobs overruns_;
  std::vector<std::pair<TaskId, JobId>> missed_;
  std::set<JobId> away_;  // overslept or blocked
  std::pair<JobId, TaskId> latest_{};
};

void add(std::string& text, std::size_t count, const char* before, const char* of_one, const char* of_many) {
  if (count == 0) return;
  text += (text.empty() ? "" : ", ") + std::string(before) + counted(count, of_one, of_many);
}

}  // namespace

TraceSummary summary_of(const TraceFile& trace) {
  TraceSummary summary;
  Count count(summary);
  for (const Track& track : trace.tracks) {
    summary.lost += track.lost;
    for (const TraceView& record : records_of(track)) count.add(record);
  }
  count.end();
  return summary;
}

std::string text_of(const TaskTrouble& trouble) {
  std::string text;
  add(text, trouble.misses, "missed ", "deadline", "deadlines");
  if (trouble.own_misses > 0)
    text += " (" + std::to_string(trouble.own_misses) + " in jobs that themselves overran, overslept or blocked)";
  add(text, trouble.overruns, "overran ", "time", "times");
  add(text, trouble.oversleeps, "overslept ", "time", "times");
  add(text, trouble.blocks, "blocked ", "time", "times");
  add(text, trouble.refused, "", "request refused", "requests refused");
  return text;
}

}  // namespace corelane::tool
