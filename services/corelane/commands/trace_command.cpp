#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "services/corelane/commands/command.h"
#include "services/corelane/trace/trace.h"

namespace corelane::tool {

Action define_trace(CLI::App& app, std::vector<std::string>& orb_options) {
  const auto options = std::make_shared<TraceOptions>();
  app.footer("Exit status: 0 done, 1 it failed or a replay differs, 2 the command line was wrong.");
  auto* const file = refuse_empty(app.add_option("FILE", options->file, "a trace that a server has written"));
  file->type_name("");
  auto* const request =
      add_pid(app, "--request", options->request, "let this process write a trace now, and look at that one");
  refuse_empty(
      app.add_option("-o,--output", options->output, "write the trace to this file for https://ui.perfetto.dev"))
      ->type_name("FILE");
  app.add_flag("--text", options->text,
               "print every record in a line instead of the summary; instants are nanoseconds of the monotonic clock, "
               "durations have a unit");
  app.add_flag("--replay", options->replay, "make all decisions again and compare; exit status 1 if one differs");
  add_format(app, options->format);
  add_directory(app, orb_options);
  return [options, file, request](const ToolSettings& settings) {
    options->directory = settings.runtime_directory;
    if (file->count() + request->count() != 1) {
      std::cerr << "corelane trace: name either a FILE or, with --request PID, a server; see corelane trace --help\n";
      return 2;
    }
    return trace(*options, std::cout, std::cerr);
  };
}

}  // namespace corelane::tool
