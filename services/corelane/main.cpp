// corelane: the command line of Corelane. Each subcommand stands in a file of its own; see command.h.
#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>
#include <string>

#include "services/corelane/command.h"

int main(int argc, char* argv[]) {
  using namespace corelane::tool;
  CLI::App app{"Looks at Corelane's servers and at what they recorded.", "corelane"};
  app.set_version_flag("--version", CORELANE_VERSION);
  app.require_subcommand(1);
  std::function<Status()> chosen;
  for (const Command& command : commands()) {
    CLI::App* const sub = app.add_subcommand(std::string(command.name), std::string(command.summary));
    sub->callback([&chosen, run = command.define(*sub)] { chosen = run; });
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    return chosen();
  } catch (const std::exception& error) {
    std::cerr << "corelane: " << error.what() << "\n";
    return 1;
  }
}
