#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "services/corelane/commands/command.h"
#include "services/corelane/servers/tasks.h"

namespace corelane::tool {

Action define_tasks(CLI::App& app, std::vector<std::string>& orb_options) {
  const auto options = std::make_shared<EndOptions>();
  app.require_subcommand(1);
  CLI::App* const end = app.add_subcommand(
      "end", "end tasks that a server has admitted, of any client; their clients are told when they call");
  add_pid(*end, "--server", options->server, "the server's process, as corelane top shows it")->required();
  auto* const tasks =
      end->add_option("TASK", options->tasks, "numbers of tasks, as corelane top shows them")->type_name("");
  auto* const holders = end->add_option("--holder", options->holders,
                                        "all tasks of this address or user: 10.0.0.7, a user's name or number, or as "
                                        "corelane top shows it, \"user 1000\"");
  refuse_empty(holders)->type_name("HOLDER");
  add_directory(*end, orb_options);
  end->footer(
      "Only the server's user and root may do this. The shared task of an operation with a contract in its IDL is "
      "admitted again at a later call. Exit status: 0 all tasks end, 1 some do not (the reason is printed), 2 the "
      "command line was wrong.");
  return [options, tasks, holders](const ToolSettings& settings) {
    options->directory = settings.runtime_directory;
    if (tasks->count() + holders->count() == 0) {
      std::cerr << "corelane tasks end: name the TASKs, or their holder with --holder; see corelane tasks end --help\n";
      return 2;
    }
    return end_tasks(*options, std::cout, std::cerr);
  };
}

}  // namespace corelane::tool
