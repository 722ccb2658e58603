#include <CLI/CLI.hpp>
#include <iostream>
#include <map>
#include <memory>

#include "services/corelane/command.h"
#include "services/corelane/doctor.h"

namespace corelane::tool {

Action define_doctor(CLI::App& app, std::vector<std::string>& orb_options) {
  static const std::map<std::string, unsigned> purposes = {{"all", ~0U},
                                                           {"tasks", unsigned(Purpose::tasks)},
                                                           {"latency", unsigned(Purpose::latency)},
                                                           {"reserve", unsigned(Purpose::reserve)},
                                                           {"services", unsigned(Purpose::services)}};
  const auto options = std::make_shared<DoctorOptions>();
  app.footer(
      "Exit status: 0 nothing is missing, 1 something is, 2 the command line was wrong. What is unknown counts for "
      "neither. Nothing is changed: the commands are for you.");
  app.add_option_function<std::string>(
         "--for", [options](const std::string& name) { options->purposes = purposes.at(name); },
         "what the host is to do: hold the deadlines of admitted tasks, respond early and alike, give cores away, find "
         "services by name")
      ->type_name("all|tasks|latency|reserve|services")
      ->check(CLI::IsMember(purposes).description(""))
      ->default_str("all");
  app.add_flag("--measure", options->measure,
               "also measure, for about 0.3 s on each core, how late threads wake and what interrupts and host take");
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
