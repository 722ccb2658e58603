#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "services/corelane/commands/command.h"
#include "services/corelane/plan/plan.h"
#include "services/corelane/plan/schema.h"

namespace corelane::tool {

Action define_plan(CLI::App& app, std::vector<std::string>&) {
  const auto options = std::make_shared<PlanOptions>();
  const auto schema = std::make_shared<bool>(false);
  app.footer(
      "The answers are those of a server with the same settings, on cores that no other server uses. The server's own "
      "code decides. All tasks count as the server's own, so the limits for clients (limits.peer_...) do not apply.\n"
      "T, D, C, J: period, deadline, budget, jitter. bound: the longest response. C up to: the largest budget with "
      "which no task is refused that is admitted now. Overheads are in util and bound, and in no budget.\n"
      "With sweeps or repetitions there is a line for each combination; --format json has each set. Exit status: 0 "
      "every task is admitted, 1 one "
      "is refused, or a chain or a task of high criticality may be late, 2 the command line or the file was wrong.");
  auto* const file = refuse_empty(app.add_option(
      "FILE", options->file, "a scenario, a contracts file, or a file of rt-app, SimSo or np-schedulability-analysis"));
  file->type_name("");
  auto* const cores = app.add_option("--cores", options->cores, "so many cores, whatever the file says");
  cores->type_name("COUNT")->check(CLI::Range(1, 1024).description(""));
  app.add_flag("--like-this-host", options->like_this_host,
               "the cores and the platform load of a server that is started here, whatever the file says")
      ->excludes(cores);
  auto* const quick = app.add_flag("--quick", options->quick,
                                   "verdicts only: neither how many cores are needed, nor how much budgets may grow");
  app.add_flag("--thorough", options->thorough, "how much budgets may grow, also for more than 100 tasks")
      ->excludes(quick);
  app.add_flag("--schema", *schema, "print the JSON schema of scenario files, for editors")->excludes(file);
  auto* const overheads = refuse_empty(app.add_option("--overheads", options->overheads,
                                                      "charge each job with the overheads that corelane doctor "
                                                      "--measure found on this host, or with those of a FILE, in "
                                                      "place of [overheads] in the scenario"));
  overheads->type_name("host-card|FILE");
  app.add_flag("--worst-overheads", options->worst_overheads, "charge the longest times that were measured [the p99]")
      ->needs(overheads);
  add_format(app, options->format);
  return [options, schema, file](const ToolSettings& settings) {
    if (*schema) {
      std::cout << scenario_schema();
      return 0;
    }
    if (file->count() == 0) {
      std::cerr << "corelane plan: name the FILE with the tasks; see corelane plan --help\n";
      return 2;
    }
    options->orb_options = settings.planning_options;
    options->shows_progress = true;
    return plan(*options, std::cout, std::cerr);
  };
}

}  // namespace corelane::tool
