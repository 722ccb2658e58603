#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "orb/eval/dispatchers.h"
#include "services/corelane/commands/command.h"
#include "services/corelane/evaluate/interrupt.h"
#include "services/corelane/simulate/simulate.h"

namespace corelane::tool {

Action define_simulate(CLI::App& app, std::vector<std::string>&) {
  const auto options = std::make_shared<SimulateOptions>();
  app.footer(
      "Under mc-orb, mc-orb* and direct the server's own code decides: admission, placement, releases. The platform "
      "load runs above all tasks; everything else costs nothing.\n"
      "T, D, C: period, deadline, budget. bound: the computed response. worst, mean: the responses of the run. jobs: "
      "those whose deadlines are within the run.\n"
      "Exit status: 0 every task is admitted and every deadline is met, 1 not so or the run was interrupted, 2 the "
      "command line or the file was wrong.");
  refuse_empty(app.add_option("FILE", options->file, "a scenario; if it has sweeps, say which --set")->required())
      ->type_name("");
  std::vector<std::string> names;
  for (const eval::Dispatcher* const dispatcher : eval::dispatchers()) names.emplace_back(dispatcher->name);
  app.add_option("--dispatcher", options->dispatcher, help_of(eval::dispatchers()))
      ->type_name("NAME")
      ->check(CLI::IsMember(names).description(""));
  add_duration(app, "--length", options->length, "how long the run lasts [the file's experiment.length]", Duration{1});
  app.add_option("--cores", options->cores, "so many cores, whatever the file says")
      ->type_name("COUNT")
      ->check(CLI::Range(1, 1024).description(""));
  app.add_option("--set", options->set, "which of the file's sets, from 1; sweeps: over all combinations [1]")
      ->type_name("NUMBER")
      ->check(CLI::Range(1, 1'000'000'000).description(""));
  refuse_empty(app.add_option("--jobs", options->jobs, "write a line for each job that ends into this CSV file"))
      ->type_name("FILE");
  add_format(app, options->format);
  return [options](const ToolSettings& settings) {
    const Interrupt interrupt;
    options->is_to_stop = &Interrupt::asked;
    options->orb_options = settings.planning_options;
    return simulate(*options, std::cout, std::cerr);
  };
}

}  // namespace corelane::tool
