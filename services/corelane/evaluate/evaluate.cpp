#include "services/corelane/evaluate/evaluate.h"

#include <algorithm>
#include <ostream>
#include <utility>

#include "orb/base/text/counted.h"
#include "orb/eval/report/comparison_tables.h"
#include "orb/eval/report/report.h"
#include "orb/eval/report/table.h"
#include "orb/eval/run_requests.h"
#include "orb/eval/statistics/comparison.h"
#include "services/corelane/evaluate/experiment_report.h"
#include "services/corelane/evaluate/experiment_runner.h"
#include "services/corelane/evaluate/loaded_experiment.h"
#include "services/corelane/evaluate/output_paths.h"
#include "services/corelane/evaluate/pdf_figures.h"
#include "services/corelane/evaluate/results_file.h"
#include "services/corelane/output/text.h"

namespace corelane::tool {
namespace {

// Returns whether an admitted task of a dispatcher that refuses tasks missed a deadline.
bool breaks_promise(const eval::ExperimentSummary& summary) {
  return std::ranges::any_of(summary.cells, [](const eval::CellSummary& cell) {
    return std::ranges::any_of(cell.dispatchers,
                               [](const eval::DispatcherSummary& sum) { return sum.refuses && sum.late_tasks > 0; });
  });
}

int complain_of_experiment(const std::string& fault, std::ostream& err, int status = wrong_experiment) {
  err << "corelane eval: " << plain(fault) << "\n";
  return status;
}

// Writes what came of the experiment. Returns the exit status.
int conclude(const EvaluateOptions& options, const ExperimentRunner& runner, const std::function<bool()>& is_to_stop,
             std::ostream& out, std::ostream& err) {
  const LoadedExperiment& experiment = runner.experiment();
  const eval::Scenario& scenario = experiment.cells.front().scenario;
  const eval::ExperimentSummary summary = runner.summary();
  const std::string heading = heading_of(experiment, summary);
  const std::vector<eval::Table> tables = eval::tables_of(summary, experiment.published);
  out << eval::wrapped(heading) << "\n";
  for (const eval::Table& table : tables) out << eval::text_of(table) << "\n";
  const std::string note =
      eval::note_of_slowdowns(scenarios_of(experiment), experiment.dispatchers, experiment.defaults);
  if (!note.empty()) out << eval::wrapped(note);
  if (!scenario.experiment.note.empty()) out << eval::wrapped(scenario.experiment.note);
  out << "Each set: " << plain(output_of(options)) << "\n";
  if (!options.report.empty() || !options.figures.empty()) {
    const eval::Report report =
        eval::report_of(report_input(options, experiment, heading, summary, tables, is_to_stop));
    if (const std::string fault = write_report(options, report); !fault.empty())
      return complain_of_experiment(fault, err);
    if (!options.report.empty()) out << "Report: " << options.report << "\n";
    if (!options.figures.empty()) out << counted(report.figures.size(), "figure") << ": " << options.figures << "\n";
  }
  if (options.mode != "virtual" || !breaks_promise(summary)) return whole_experiment;
  err << "corelane eval: an admitted task missed a deadline in virtual time, which breaks the server's promise; look "
         "for it in the column late_tasks of "
      << output_of(options) << "\n";
  return part_of_experiment;
}

}  // namespace

int evaluate(const EvaluateOptions& options, const Evaluation& evaluation, std::ostream& out, std::ostream& err) {
  auto experiment = load_experiment(options);
  if (!experiment) return complain_of_experiment(experiment.error().text, err);
  if (options.quick) shorten(*experiment);
  const std::string path = output_of(options);
  if (const std::string fault = fault_of_outputs(options, path); !fault.empty())
    return complain_of_experiment(fault, err);
  if (const std::string fault = options.pdf ? fault_of_pdf() : ""; !fault.empty())
    return complain_of_experiment(fault, err);
  if (const auto fault = fault_of_combinations(*experiment, evaluation))
    return complain_of_experiment(options.file + ": " + *fault, err);
  auto file = ResultsFile::open(path, experiment->origin, experiment->cells.front().swept, experiment->cells.size());
  if (!file) return complain_of_experiment(file.error(), err);
  ExperimentRunner runner(options, evaluation, *std::move(experiment), *file, err);
  if (const auto fault = runner.run()) return complain_of_experiment(fault->text, err, fault->status);
  if (!evaluation.is_to_stop()) return conclude(options, runner, evaluation.is_to_stop, out, err);
  err << "corelane eval: stopped; " << path << " has what is done, and the same command goes on from there\n";
  return part_of_experiment;
}

}  // namespace corelane::tool
