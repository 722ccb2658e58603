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
      "Changes nothing: it prints the commands for you to run. Exit status: 0 nothing is missing, 1 something is, 2 "
      "the command line was wrong. Unknown properties do not count.");
  app.add_option_function<std::string>(
         "--for", [options](const std::string& name) { options->purposes = purposes.at(name); },
         "what the host has to do: keep the deadlines of admitted tasks, respond early and evenly, reserve cores, find "
         "services by name")
      ->type_name("all|tasks|latency|reserve|services")
      ->check(CLI::IsMember(purposes).description(""))
      ->default_str("all");
  app.add_flag("--measure", options->measure,
               "also measure for about 0.3 s on each core how late threads wake, and how much time interrupts and the "
               "host take");
  add_format(app, options->format);
  add_directory(app, orb_options);
  return [options](const ToolSettings& settings) {
    options->orb_options = settings.orb_options;
    options->places = {settings.runtime_directory,
                       settings.names_a_service ? std::vector<std::string>{} : settings.nameserver_sockets,
                       settings.reservation_sockets, settings.trusted, settings.start_options()};
    return doctor(*options, std::cout);
  };
}

}  // namespace corelane::tool
