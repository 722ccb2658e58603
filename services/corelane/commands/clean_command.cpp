#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "services/corelane/commands/command.h"
#include "services/corelane/servers/clean.h"

namespace corelane::tool {

Action define_clean(CLI::App& app, std::vector<std::string>& orb_options) {
  const auto options = std::make_shared<CleanOptions>();
  app.footer(
      "Removes counter pages, sockets and requests for traces of processes that ended. Files that a running process "
      "uses stay, and so do traces. Exit status: 0 done, 1 something could not be removed or examined, 2 the command "
      "line was wrong.");
  app.add_flag("--dry-run", options->dry_run, "print what would be removed, and remove nothing");
  add_format(app, options->format);
  add_directory(app, orb_options);
  return [options](const ToolSettings& settings) {
    options->directory = settings.runtime_directory;
    return clean(*options, std::cout, std::cerr);
  };
}

}  // namespace corelane::tool
