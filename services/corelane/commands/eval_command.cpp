#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "orb/eval/virtual_run.h"
#include "services/corelane/commands/command.h"
#include "services/corelane/evaluate/evaluate.h"
#include "services/corelane/evaluate/interrupt.h"

namespace corelane::tool {
namespace {

Status run_experiment(EvaluateOptions& options) {
  const Interrupt interrupt;
  const Evaluation evaluation{
      .run = [](const eval::RunRequest& request) -> Expected<eval::RunOutcome, std::string> {
        return eval::run_virtually(request);
      },
      .is_to_stop = &Interrupt::asked};
  return evaluate(options, evaluation, std::cout, std::cerr);
}

}  // namespace

Action define_eval(CLI::App& app, std::vector<std::string>&) {
  const auto options = std::make_shared<EvaluateOptions>();
  options->version = CORELANE_VERSION;
  app.footer(
      "Each set of tasks runs under each dispatcher of the file, with the same jobs. The results are lines of a CSV "
      "file. If it exists, only what it lacks is run. Ctrl-C keeps what is done.\n"
      "Exit status: 0 all is done; 1 it was stopped, or an admitted task missed a deadline in virtual time; 2 the "
      "command line or the file was wrong.");
  refuse_empty(app.add_option("FILE", options->file, "a scenario, with sweeps and repetitions")->required())
      ->type_name("");
  app.add_flag("--virtual", "in virtual time, on as many simulated cores as the file says")->required();
  refuse_empty(app.add_option("--output", options->output, "the CSV file [the name of FILE with .csv]"))
      ->type_name("CSV");
  refuse_empty(app.add_option("--report", options->report, "write the results and their figures into this HTML file"))
      ->type_name("HTML");
  app.add_option("--repetitions", options->repetitions, "so many sets in each combination, whatever the file says")
      ->type_name("COUNT")
      ->check(CLI::Range(1, 1'000'000).description(""));
  app.add_flag("--quick", options->quick, "only three combinations, four sets of each, and two dispatchers");
  app.add_option("--threads", options->threads, "threads for virtual time [one for each core]")
      ->type_name("COUNT")
      ->check(CLI::Range(1, 1024).description(""));
  return [options](const ToolSettings& settings) {
    options->orb_options = settings.orb_options;
    return run_experiment(*options);
  };
}

}  // namespace corelane::tool
