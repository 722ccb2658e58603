#include "services/corelane/real_run/overheads/overheads.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <ostream>

#include "orb/os/machine/topology.h"
#include "orb/os/privileges.h"
#include "services/corelane/real_run/overheads/decision_costs.h"
#include "services/corelane/real_run/run_directory.h"

namespace corelane::tool {
namespace {

constexpr const char* nothing = "-";

std::string microseconds_of(Duration duration) {
  return eval::fixed(std::chrono::duration<double, std::micro>(duration).count(), 2);
}

std::vector<std::string> cells_of(const MeasuredOverhead& measured) {
  const auto& [row, stages] = measured;
  std::vector<std::string> cells{std::string(row.scenario->title)};
  for (const StageTimes* const stage : stages.parts())
    cells.push_back(stage->empty() ? nothing : microseconds_of(stage->quantile(50)));
  cells.insert(cells.end(), {microseconds_of(stages.total.quantile(0)), eval::fixed(stages.total.mean(), 2),
                             microseconds_of(stages.total.quantile(99)), microseconds_of(stages.total.quantile(100))});
  if (row.published)
    cells.insert(cells.end(), {std::to_string(row.published->min), std::to_string(row.published->mean),
                               std::to_string(row.published->max)});
  else
    cells.insert(cells.end(), 3, nothing);
  return cells;
}

// Returns two cores of this host; fewer if there are not so many.
std::vector<CoreId> two_cores() {
  std::vector<CoreId> cores;
  if (const auto topology = os::Topology::detect())
    for (const os::CoreInfo& core : topology->cores())
      if (cores.size() < 2) cores.push_back(core.core);
  return cores;
}

int complain_of_overheads(const std::string& fault, std::ostream& err) {
  err << "corelane eval: " << fault << "\n";
  return 1;
}

// Measures the rows of the file. Returns the fault; "" if there is none.
std::string measure_rows(const OverheadsFile& file, const DecisionSampling& sampling, std::ostream& err,
                         std::vector<MeasuredOverhead>& measured) {
  std::vector<const DecisionScenario*> scenarios;
  for (const OverheadsFile::Row& row : file.rows) scenarios.push_back(row.scenario);
  return measure_decisions(scenarios, sampling, [&](const DecisionScenario& scenario, const DecisionStages& stages) {
    measured.push_back({.row = file.rows[measured.size()], .stages = stages});
    err << "corelane eval: " << scenario.title << " is measured, " << measured.size() << " of " << scenarios.size()
        << std::endl;
  });
}

// Locks this process's memory, as a server does. Returns sentences about what the system does not grant.
std::vector<std::string> become_a_server() {
  static_cast<void>(os::lock_memory());  // missing() says what it needs
  return os::missing(os::privileges());
}

}  // namespace

eval::Table overheads_table(const OverheadsFile& file, const std::vector<MeasuredOverhead>& measured) {
  eval::Table table{.title = file.name.empty() ? "What the manager's decisions cost" : file.name,
                    .columns = {"us", "queue", "decide", "move", "thread", "wake", "min", "mean", "p99", "max",
                                "published min", "mean", "max"}};
  for (const MeasuredOverhead& one : measured) table.rows.push_back(cells_of(one));
  table.notes = {std::to_string(file.samples) +
                 " samples of each scenario. The stages are medians; min, mean, p99 and max are those of the total."};
  if (!file.source.empty()) table.notes.push_back("Published: " + file.source + ".");
  return table;
}

int overheads(const OverheadsFile& file, const OverheadsOptions& options, std::ostream& out, std::ostream& err) {
  const std::vector<CoreId> cores = two_cores();
  if (cores.size() < 2)
    return complain_of_overheads("the scenarios need two cores, and this process may use one; widen its affinity", err);
  try {
    const std::vector<std::string> missing = become_a_server();
    const RunDirectory ledger;
    std::vector<MeasuredOverhead> measured;
    const std::string fault = measure_rows(file,
                                           {.samples = static_cast<std::size_t>(file.samples),
                                            .cores = cores,
                                            .ledger = ledger.path(),
                                            .is_to_stop = options.is_to_stop},
                                           err, measured);
    eval::Table table = overheads_table(file, measured);
    table.notes.push_back("Promises are " + ledger_text(ledger.path()) + ".");
    if (!options.host.empty()) table.notes.push_back("Host: " + options.host + ".");
    table.notes.insert(table.notes.end(), missing.begin(), missing.end());
    if (!measured.empty()) out << eval::text_of(table);
    if (!fault.empty()) return complain_of_overheads(fault, err);
    if (measured.size() == file.rows.size()) return 0;
    return complain_of_overheads("stopped; the table has the scenarios that were measured", err);
  } catch (const std::exception& failure) {
    return complain_of_overheads(failure.what(), err);
  }
}

}  // namespace corelane::tool
