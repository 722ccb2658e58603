#include "services/python/tables.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>

#include "orb/base/ids.h"
#include "orb/base/time.h"

namespace corelane::python {
namespace {

namespace py = pybind11;
using eval::Plan;
using eval::TaskOutcome;
using eval::TaskVerdict;

// A column is as long as the rows that were added to it.
class Columns {
 public:
  template <typename Value>
  void add(const char* name, const Value& value) {
    if (!table_.contains(name)) table_[name] = py::list();
    py::list(table_[name]).append(value);
  }

  // Names the set that the row is about.
  void add_set(const PlannedTasks& planned) {
    for (const auto& [field, value] : planned.swept) add(field.c_str(), value);
    add("set", planned.set);
  }

  py::dict table() const { return table_; }

 private:
  py::dict table_{};
};

py::object whole(std::int64_t value) { return py::int_(value); }
py::object time_or_none(std::optional<Duration> value) { return value ? whole(value->count()) : py::none(); }
py::object core_or_none(CoreId core) { return core == no_core ? py::object(py::none()) : whole(core.value); }

double fraction_of(sched::Ppm value) { return static_cast<double>(value) / static_cast<double>(sched::whole_core); }

std::optional<Duration> unless_zero(Duration value) {
  return value == Duration::zero() ? std::nullopt : std::optional(value);
}

void add_contract(Columns& columns, const eval::Task& task) {
  columns.add("label", task.label);
  columns.add("period_ns", task.contract.period.count());
  columns.add("deadline_ns", task.contract.deadline.count());
  columns.add("budget_ns", task.contract.budget.count());
  columns.add("jitter_ns", task.contract.jitter.count());
}

void add_verdict(Columns& columns, const TaskVerdict& verdict) {
  add_contract(columns, verdict.task);
  columns.add("utilization", fraction_of(verdict.utilization));
  columns.add("admitted", verdict.admitted);
  columns.add("core", core_or_none(verdict.admitted ? verdict.core : no_core));
  columns.add("bound_ns", time_or_none(verdict.admitted ? unless_zero(verdict.bound) : std::nullopt));
  columns.add("largest_budget_ns", time_or_none(verdict.largest_budget));
  columns.add("refusal", verdict.admitted ? py::object(py::none())
                                          : py::str(eval::reason_of(verdict.refusal, verdict.refusal_note)));
}

void add_chain(Columns& columns, const eval::ChainVerdict& chain) {
  columns.add("label", chain.label);
  columns.add("deadline_ns", time_or_none(chain.deadline));
  columns.add("bound_ns", time_or_none(chain.bound));
  columns.add("direct_bound_ns", time_or_none(chain.direct));
  columns.add("holds", chain.holds);
}

void add_core(Columns& columns, const sched::CoreView& core) {
  columns.add("core", core.id.value);
  columns.add("tasks", core.tasks);
  columns.add("utilization", fraction_of(core.admitted));
  columns.add("platform", fraction_of(core.platform));
}

void add_summary(Columns& columns, const Plan& plan) {
  columns.add("cores", plan.cores.size());
  columns.add("tasks", plan.tasks.size());
  columns.add("admitted", plan.tasks.size() - plan.refused);
  columns.add("accepted", fraction_of(plan.accepted));
  columns.add("fewest_cores", plan.fewest_cores ? whole(*plan.fewest_cores) : py::none());
  columns.add("growth", plan.growth ? py::object(py::float_(*plan.growth / 1000.0)) : py::none());
  columns.add("holds", eval::holds(plan));
}

void add_outcome(Columns& columns, const eval::Task& task, const TaskOutcome& outcome) {
  const bool has_run = outcome.finished > 0;
  add_contract(columns, task);
  columns.add("admitted", outcome.admitted);
  columns.add("core", core_or_none(outcome.admitted ? outcome.core : no_core));
  columns.add("bound_ns", time_or_none(outcome.admitted ? unless_zero(outcome.bound) : std::nullopt));
  columns.add("worst_ns", time_or_none(has_run ? std::optional(outcome.worst) : std::nullopt));
  columns.add("mean_ns", time_or_none(has_run ? std::optional(outcome.mean()) : std::nullopt));
  columns.add("jobs", outcome.jobs);
  columns.add("misses", outcome.misses);
  columns.add("overruns", outcome.overruns);
  columns.add("refusal", outcome.admitted ? py::object(py::none()) : py::str(outcome.refusal));
}

// Returns one value of each job: the bytes of an array of std::int64_t. pybind11 before 2.12 makes no arrays of
// NumPy 2.
template <typename Value>
py::bytearray array_of(const std::vector<sim::FinishedJob>& jobs, const Value& value) {
  std::vector<std::int64_t> array;
  array.reserve(jobs.size());
  for (const sim::FinishedJob& job : jobs) array.push_back(static_cast<std::int64_t>(value(job)));
  return {reinterpret_cast<const char*>(array.data()), array.size() * sizeof(std::int64_t)};
}

std::int64_t count_of(Time time) { return time.time_since_epoch().count(); }

// The columns are those of `corelane simulate --jobs`.
py::dict table_of_jobs(const std::vector<sim::FinishedJob>& jobs) {
  using Job = sim::FinishedJob;
  py::dict table;
  table["task"] = array_of(jobs, [](const Job& job) { return job.task; });
  table["job"] = array_of(jobs, [](const Job& job) { return job.number; });
  table["release_ns"] = array_of(jobs, [](const Job& job) { return count_of(job.release); });
  table["arrival_ns"] = array_of(jobs, [](const Job& job) { return count_of(job.arrival); });
  table["start_ns"] = array_of(jobs, [](const Job& job) { return count_of(job.start); });
  table["finish_ns"] = array_of(jobs, [](const Job& job) { return count_of(job.finish); });
  table["deadline_ns"] = array_of(jobs, [](const Job& job) { return count_of(job.deadline); });
  table["core"] = array_of(jobs, [](const Job& job) { return job.core.value; });
  table["demand_ns"] = array_of(jobs, [](const Job& job) { return job.demand.count(); });
  return table;
}

// Returns the notes of all plans, each once.
std::vector<std::string> notes_of(const std::vector<PlannedTasks>& planned) {
  std::vector<std::string> notes;
  for (const PlannedTasks& set : planned)
    for (const std::string& note : set.plan.notes)
      if (std::ranges::find(notes, note) == notes.end()) notes.push_back(note);
  return notes;
}

std::string hash_text_of(std::uint64_t hash) {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash));
  return digits;
}

}  // namespace

py::dict tables_of(const std::vector<PlannedTasks>& planned) {
  Columns tasks, cores, chains, sets;
  for (const PlannedTasks& set : planned) {
    for (const TaskVerdict& verdict : set.plan.tasks) tasks.add_set(set), add_verdict(tasks, verdict);
    for (const sched::CoreView& core : set.plan.cores) cores.add_set(set), add_core(cores, core);
    for (const eval::ChainVerdict& chain : set.plan.chains) chains.add_set(set), add_chain(chains, chain);
    sets.add_set(set), add_summary(sets, set.plan);
  }
  py::dict tables;
  tables["tasks"] = tasks.table(), tables["cores"] = cores.table();
  tables["chains"] = chains.table(), tables["sets"] = sets.table();
  py::list notes;
  for (const std::string& note : notes_of(planned)) notes.append(note);
  tables["notes"] = notes;
  return tables;
}

py::dict tables_of(const eval::RunRequest& request, const eval::RunOutcome& outcome, const JobList& jobs) {
  Columns tasks;
  for (std::size_t i = 0; i < outcome.tasks.size(); ++i) add_outcome(tasks, request.tasks[i], outcome.tasks[i]);
  py::dict tables;
  tables["tasks"] = tasks.table();
  tables["jobs"] = table_of_jobs(jobs.jobs());
  py::list notes;
  for (const std::string& note : outcome.notes) notes.append(note);
  tables["notes"] = notes;
  tables["trace"] = hash_text_of(outcome.trace_hash);
  return tables;
}

}  // namespace corelane::python
