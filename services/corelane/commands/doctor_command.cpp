#include <CLI/CLI.hpp>
#include <iostream>
#include <map>
#include <memory>

#include "services/corelane/commands/command.h"
#include "services/corelane/doctor/doctor.h"

namespace corelane::tool {

Action define_doctor(CLI::App& app, std::vector<std::string>& orb_options) {
  static const std::map<std::string, unsigned> purposes = {{"all", ~0U},
                                                           {"tasks", unsigned(Purpose::tasks)},
                                                           {"latency", unsigned(Purpose::latency)},
                                                           {"reserve", unsigned(Purpose::reserve)},
                                                           {"services", unsigned(Purpose::services)}};
  const auto options = std::make_shared<DoctorOptions>();
  app.footer(
      "Changes nothing on the host: it prints the commands for you to run. --measure writes the host card. Exit "
      "status: 0 "
      "nothing is missing, 1 something is, or the measurement failed; 2 the command line was wrong. Unknown "
      "properties do not count. With --measure and without --for, missing properties do not count, either.");
  app.add_option_function<std::string>(
         "--for",
         [options](const std::string& name) { options->purposes = purposes.at(name), options->names_purpose = true; },
         "what the host has to do: keep the deadlines of admitted tasks, respond early and evenly, reserve cores, find "
         "services by name")
      ->type_name("all|tasks|latency|reserve|services")
      ->check(CLI::IsMember(purposes).description(""))
      ->default_str("all");
  auto* const measured = app.add_flag(
      "--measure", options->measure,
      "also measure for some seconds how late threads wake, how much time interrupts and the host take, and what hops "
      "and migrations cost; the costs become this host's card");
  app.add_flag("--long", options->thorough,
               "measure for minutes: enough samples for rare delays, and the load balancer")
      ->needs(measured);
  refuse_empty(app.add_option("--output", options->card_file,
                              "write the host card to this file "
                              "[corelane/host-card.json in XDG_STATE_HOME or ~/.local/state]"))
      ->type_name("FILE")
      ->needs(measured);
  add_format(app, options->format);
  add_directory(app, orb_options);
  return [options](const ToolSettings& settings) {
    options->orb_options = settings.orb_options;
    options->places = {settings.runtime_directory,
                       settings.names_a_service ? std::vector<std::string>{} : settings.nameserver_sockets,
                       settings.reservation_sockets, settings.trusted, settings.start_options()};
    return doctor(*options, std::cout, std::cerr);
  };
}

}  // namespace corelane::tool
