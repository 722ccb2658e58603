#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "orb/base/contract.h"
#include "services/corelane/command.h"
#include "services/corelane/ping.h"

namespace corelane::tool {
namespace {

void read_interval(PingOptions& options, const std::string& text) {
  const auto interval = parse_duration(text);
  if (!interval) throw CLI::ValidationError("--interval", "'" + text + "' is no duration; write 10ms, 1500us or 2s");
  options.interval = *interval;
}

}  // namespace

std::function<Status()> define_ping(CLI::App& app) {
  const auto options = std::make_shared<PingOptions>();
  app.footer("The call is _non_existent, which every CORBA object answers without its servant.");
  app.add_option("REFERENCE", options->reference, "IOR:..., corbaloc:... or another text that names an object")
      ->required();
  app.add_option("--calls", options->calls, "so often")->check(CLI::Range(1, 1'000'000))->capture_default_str();
  app.add_option_function<std::string>(
         "--interval", [options](const std::string& text) { read_interval(*options, text); },
         "once in so long [at once]")
      ->type_name("TIME");
  app.add_option_function<std::string>(
         "--wait",
         [options](const std::string& mode) {
           options->options = {"-ORBClientWait", mode};
         },
         "how it waits for replies [park]")
      ->type_name("park|spin|spin-then-park|adaptive")
      ->check(CLI::IsMember({"park", "spin", "spin-then-park", "adaptive"}).description(""));
  add_format(app, options->format);
  return [options] { return ping(*options, std::cout, std::cerr); };
}

}  // namespace corelane::tool
