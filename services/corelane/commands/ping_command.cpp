#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "services/corelane/commands/command.h"
#include "services/corelane/references/ping.h"

namespace corelane::tool {

Action define_ping(CLI::App& app, std::vector<std::string>& orb_options) {
  const auto options = std::make_shared<PingOptions>();
  app.footer(
      "Calls _non_existent, which every CORBA object answers without its servant. Exit status: 0 the object exists, 1 "
      "it does not or does not answer, 2 the command line was wrong.");
  app.add_option("REFERENCE", options->reference, "IOR:..., corbaloc:..., corbaname:..., a file that holds one, or -")
      ->type_name("")
      ->required();
  app.add_option("--calls", options->calls, "number of calls")
      ->type_name("COUNT")
      ->check(CLI::Range(1, 1'000'000).description(""))
      ->capture_default_str();
  add_duration(app, "--interval", options->interval, "once in so long [at once]");
  add_other_word(app, orb_options,
                 {.name = "--timeout",
                  .orb_option = "-ORBTimeoutRequest",
                  .type = "TIME",
                  .help = "how long a call waits for its reply; 0s: for ever [5s]"})
      ->check(fault_of_duration);
  add_other_word(app, orb_options,
                 {.name = "--wait",
                  .orb_option = "-ORBClientWait",
                  .type = "park|spin|spin-then-park|adaptive",
                  .help = "how it waits for replies [client.wait, park]"})
      ->check(CLI::IsMember({"park", "spin", "spin-then-park", "adaptive"}).description(""));
  add_format(app, options->format);
  return [options](const ToolSettings& settings) {
    options->options = settings.orb_options;
    return ping(*options, std::cout, std::cerr);
  };
}

}  // namespace corelane::tool
