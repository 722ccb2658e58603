#include "services/corelane/reproductions/reproduce.h"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <ostream>
#include <vector>

#include "orb/os/machine/topology.h"
#include "orb/os/privileges.h"

namespace corelane::tool::reproductions {
namespace {

constexpr int quick_part = 10;

bool has_published(const ReproductionFile::Entry& entry, std::size_t column) {
  return std::ranges::any_of(entry.published,
                             [&](const std::vector<std::string>& row) { return !row[column].empty(); });
}

// Returns the last core of this process. The first ones are more likely to serve interrupts.
std::optional<CoreId> core_for_experiments() {
  const auto topology = os::Topology::detect();
  if (!topology) return std::nullopt;
  return topology->cores().back().core;
}

// Reproducer runs the experiments of a file one after the other.
class Reproducer {
 public:
  Reproducer(const ReproduceOptions& options, std::ostream& out, std::ostream& err)
      : options_(options), out_(out), err_(err) {}

  // Returns whether all of it was run.
  bool run(const ReproductionFile& file) {
    bool is_whole = true;
    for (const ReproductionFile::Entry& entry : file.entries) {
      if (options_.only && *options_.only != entry.experiment->time) continue;
      if (options_.is_to_stop && options_.is_to_stop())
        return complain("stopped; the tables above are those of the experiments that were run");
      is_whole = run_entry(entry) && is_whole;
    }
    return is_whole;
  }

 private:
  bool complain(const std::string& fault) const {
    err_ << "corelane eval: " << fault << std::endl;
    return false;
  }

  bool run_entry(const ReproductionFile::Entry& entry) const {
    const Experiment& experiment = *entry.experiment;
    const std::string name(experiment.name);
    ExperimentRun run{.length = options_.quick ? entry.length / quick_part : entry.length,
                      .is_to_stop = options_.is_to_stop};
    if (experiment.time == ExperimentTime::really) {
      if (!os::privileges().fifo)
        return complain(name + " needs SCHED_FIFO, which this process may not use; corelane doctor says how to get it");
      const auto core = core_for_experiments();
      if (!core) return complain(name + " needs to know the cores of this host, which cannot be read; see the log");
      run.core = *core;
    }
    const auto values = experiment.run(run);
    if (!values) return complain(name + ": " + values.error());
    if (values->size() < experiment.rows.size()) return complain(name + " was stopped");
    eval::Table table = reproduction_table(entry, *values);
    if (experiment.time == ExperimentTime::really && !options_.host.empty())
      table.notes.push_back("Core " + std::to_string(run.core.value) + " of " + options_.host + ".");
    out_ << eval::text_of(table) << std::endl;
    return true;
  }

  const ReproduceOptions& options_;
  std::ostream& out_;
  std::ostream& err_;
};

}  // namespace

eval::Table reproduction_table(const ReproductionFile::Entry& entry, const ExperimentValues& values) {
  const Experiment& experiment = *entry.experiment;
  eval::Table table{.title = std::string(experiment.title), .columns = {std::string(experiment.name)}};
  table.columns.insert(table.columns.end(), experiment.columns.begin(), experiment.columns.end());
  for (std::size_t row = 0; row < values.size(); ++row) {
    table.rows.push_back({std::string(experiment.rows[row])});
    table.rows[row].insert(table.rows[row].end(), values[row].begin(), values[row].end());
  }
  for (std::size_t column = 0; column < experiment.columns.size(); ++column) {
    if (!has_published(entry, column)) continue;
    table.columns.push_back("published " + std::string(experiment.columns[column]));
    for (std::size_t row = 0; row < values.size(); ++row)
      table.rows[row].push_back(entry.published[row][column].empty() ? "-" : entry.published[row][column]);
  }
  table.notes.push_back("Published: " + std::string(experiment.claim) +
                        ". Here: " + (experiment.holds(values) ? "confirmed." : "not confirmed."));
  return table;
}

int reproduce(const ReproductionFile& file, const ReproduceOptions& options, std::ostream& out, std::ostream& err) {
  if (!file.name.empty()) out << eval::wrapped(file.name + ".");
  if (!file.source.empty()) out << eval::wrapped("Published: " + file.source + ".");
  out << "\n";
  try {
    return Reproducer(options, out, err).run(file) ? 0 : 1;
  } catch (const std::exception& failure) {
    err << "corelane eval: " << failure.what() << "\n";
    return 1;
  }
}

}  // namespace corelane::tool::reproductions
