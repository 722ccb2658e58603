#include <CLI/CLI.hpp>
#include <string>

#include "orb/base/contract.h"
#include "services/corelane/commands/command.h"

namespace corelane::tool {
namespace {

// `Target` is a Duration or std::optional<Duration>.
template <typename Target>
CLI::Option* add_duration_to(CLI::App& app, const std::string& name, Target& target, const std::string& help,
                             Duration least) {
  const auto read = [&target, name, least](const std::string& text) {
    if (const auto fault = fault_of_duration(text); !fault.empty()) throw CLI::ValidationError(name, fault);
    const Duration value = *parse_duration(text);
    if (value < least) throw CLI::ValidationError(name, text + " is less than " + to_string(least));
    target = value;
  };
  return app.add_option_function<std::string>(name, read, help)->type_name("TIME");
}

}  // namespace

std::span<const Command> commands() {
  static constexpr Command table[] = {
      {"trace", "look at what a server recorded, replay it, or write it for Perfetto", &define_trace},
      {"measure", "find out how long operations execute, and which budget would hold", &define_measure},
      {"plan", "predict which tasks of a file a server would admit, and how many cores all of them need", &define_plan},
      {"simulate", "run the tasks of a file in virtual time, and show which deadlines are met", &define_simulate},
      {"eval", "run an experiment: many sets of tasks under several dispatchers, compared", &define_eval},
      {"scale", "measure and predict how programs scale with the number of cores", &define_scale},
      {"tune", "search for settings with which a program is faster on this host", &define_tune, true},
      {"convert", "write the tasks of a file for rt-app, SimSo or another program, or read those of such a program",
       &define_convert},
      {"ping", "call an object, and say over which transport, why over that one, and how long it takes", &define_ping},
      {"top", "show the tasks, cores, misses and budgets of this host's servers", &define_top},
      {"tasks", "end tasks that a server has admitted, of any client", &define_tasks},
      {"ns", "list, resolve, bind, unbind and watch names of the naming service", &define_ns},
      {"reserve", "run a program on cores, or with a share of one, that it has for itself", &define_reserve, true},
      {"cores", "show the owner of each core", &define_cores},
      {"doctor", "say what this host lacks for real time, what that costs, and which command mends it", &define_doctor},
      {"ior", "show what a reference contains: type, endpoints, object key, components", &define_ior},
      {"completion", "print the completion of this command line for a shell", &define_completion},
      {"clean", "remove what processes that ended left in the runtime directory", &define_clean},
  };
  return table;
}

void add_format(CLI::App& app, Format& format) {
  app.add_option_function<std::string>(
         "--format", [&format](const std::string& name) { format = name == "json" ? Format::json : Format::table; },
         "output format")
      ->type_name("table|json")
      ->check(CLI::IsMember({"table", "json"}, CLI::ignore_case).description(""))
      ->default_str("table");
}

std::string fault_of_duration(const std::string& text) {
  return parse_duration(text) ? std::string{}
                              : "'" + text + "' is no duration; write a whole number and its unit: 10ms, 1500us or 2s";
}

CLI::Option* add_duration(CLI::App& app, const std::string& name, Duration& target, const std::string& help,
                          Duration least) {
  return add_duration_to(app, name, target, help, least);
}

CLI::Option* add_duration(CLI::App& app, const std::string& name, std::optional<Duration>& target,
                          const std::string& help, Duration least) {
  return add_duration_to(app, name, target, help, least);
}

CLI::Option* refuse_empty(CLI::Option* option) {
  const auto fault = [](const std::string& text) {
    return text.empty() ? std::string("it is empty; is a variable not set?") : std::string{};
  };
  return option->check(fault);
}

CLI::Option* add_pid(CLI::App& app, const std::string& name, int& target, const std::string& help) {
  constexpr int highest = 1 << 22;  // PID_MAX_LIMIT of Linux
  return app.add_option(name, target, help)->type_name("PID")->check(CLI::Range(1, highest).description(""));
}

CLI::Option* add_other_word(CLI::App& app, std::vector<std::string>& orb_options, const OtherWord& word) {
  const auto add = [&orb_options, option = word.orb_option](const std::string& value) {
    orb_options.insert(orb_options.end(), {option, value});
  };
  return app.add_option_function<std::string>(word.name, add, word.help)->type_name(word.type);
}

void add_directory(CLI::App& app, std::vector<std::string>& orb_options) {
  refuse_empty(add_other_word(app, orb_options,
                              {.name = "--runtime-directory",
                               .orb_option = "-ORBRuntimeDirectory",
                               .type = "DIR",
                               .help = "the servers' runtime.directory [as a server started here finds it]"}));
}

}  // namespace corelane::tool
