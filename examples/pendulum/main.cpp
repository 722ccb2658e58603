// corelane-pendulum: the demo. Without a subcommand it is the conductor. The conductor starts the roles `serve` and
// `swing` itself, each in a process of its own.
#include <CLI/CLI.hpp>
#include <iostream>
#include <map>
#include <memory>

#include "examples/pendulum/roles.h"
#include "orb/corba/exception.h"
#include "orb/core/config/command_line.h"
#include "orb/core/config/orb_options.h"
#include "orb/os/process/standard_descriptors.h"

namespace {

using namespace corelane;
using namespace corelane::pendulum;

constexpr const char* usage =
    "corelane-pendulum [--pendulums N] [--length 10s] [--no-admission] [--reserve own|host|off] [-ORBOption value ...]";

int refuse(std::string_view why) {
  std::cerr << "corelane-pendulum: " << why << "\nusage: " << usage << "\n";
  return 2;
}

// Reports a failed write to standard output, for example because of a full disk or a closed terminal. Then the output
// is incomplete, and the exit status says so.
int flushed(int status) {
  const std::string fault = os::output_fault();
  if (fault.empty()) return status;
  std::cerr << "corelane-pendulum: " << fault << "\n";
  return 1;
}

// Reads a duration such as "10ms" into `target`.
CLI::Option* add_duration(CLI::App* app, const std::string& name, Duration& target, const std::string& help) {
  const auto read = [&target, name](const std::string& text) {
    const auto duration = parse_duration(text);
    if (!duration) throw CLI::ValidationError(name, "'" + text + "' is no duration; write 10ms, 1500us or 2s");
    target = *duration;
  };
  return app->add_option_function<std::string>(name, read, help);
}

CLI::Option* add_reserving(CLI::App& app, Reserving& target) {
  const auto read = [&target](const std::string& word) {
    const std::map<std::string, Reserving> modes{
        {"own", Reserving::own}, {"host", Reserving::host}, {"off", Reserving::off}};
    const auto mode = modes.find(word);
    if (mode == modes.end()) throw CLI::ValidationError("--reserve", "'" + word + "' is none of own, host, off");
    target = mode->second;
  };
  return app
      .add_option_function<std::string>("--reserve", read,
                                        "Which processes keep off the service's cores: own, only those of the demo "
                                        "(the default); host, all of this host; off, none")
      ->type_name("own|host|off");
}

// Shows the usage line for users. The library's own would list the internal roles, too.
class HelpText : public CLI::Formatter {
  std::string make_usage(const CLI::App*, std::string) const override { return std::string("Usage: ") + usage + "\n"; }
};

int run(std::vector<std::string> arguments) {
  const OrbOptions orb_options = core::take_orb_options(arguments);
  CLI::App app(
      "Balances more inverted pendulums over CORBA than the machine carries: admission control keeps its promises.",
      "corelane-pendulum");
  app.footer("Options that begin with -ORB go to the ORBs of all its processes.");
  ConductorOptions conductor;
  bool no_admission = false;
  app.add_option("--pendulums", conductor.pendulums,
                 "Number of pendulums; default: 1.5 times as many as fit, with --no-admission more")
      ->type_name("COUNT")
      ->check(CLI::Range(1, 256).description(""));
  add_duration(&app, "--length", conductor.length, "How long; default: 10s")->type_name("DURATION");
  app.add_flag("--no-admission", no_admission, "Admit every pendulum, to see what happens without admission control");

  add_reserving(app, conductor.reserving);
  app.formatter(std::make_shared<HelpText>());

  CLI::App* server = app.add_subcommand("serve", "(internal) the control service")->group("");
  server->add_flag("--no-admission", no_admission);
  std::string name;
  server->add_option("--name", name);

  ClientOptions client;
  CLI::App* swinging = app.add_subcommand("swing", "(internal) one pendulum")->group("");
  swinging->add_option("--reference", client.reference)->required();
  add_duration(swinging, "--period", client.contract.period, "T")->required();
  add_duration(swinging, "--deadline", client.contract.deadline, "D")->required();
  add_duration(swinging, "--budget", client.contract.budget, "C")->required();
  add_duration(swinging, "--jitter", client.contract.jitter, "J")->required();
  add_duration(swinging, "--effort", client.effort, "of computing a force")->required();
  swinging->add_option("--length", client.length)->required();
  swinging->add_option("--seed", client.seed)->required();

  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // CLI11 expects them in reverse order
  } catch (const CLI::ParseError& fault) {
    if (fault.get_exit_code() == 0) return app.exit(fault);  // help
    return refuse(core::fault_of_command_line(app, arguments, fault.what()));
  }
  if (!*server && !*swinging && conductor.length <= Duration::zero()) return refuse("--length is more than 0s");
  conductor.admission = !no_admission;
  if (*server) return serve({.admission = !no_admission, .name = name}, orb_options);
  if (*swinging) return swing(client, orb_options);
  return conduct(conductor, orb_options);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return flushed(run({argv + 1, argv + argc}));
  } catch (const CORBA::BAD_PARAM& bad) {  // an -ORB option
    return refuse(bad.detail().empty() ? bad.what() : bad.detail());
  } catch (const std::exception& failure) {
    std::cerr << "corelane-pendulum: " << failure.what() << "\n";
    return 1;
  }
}
