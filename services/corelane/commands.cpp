#include <CLI/CLI.hpp>
#include <string>

#include "services/corelane/command.h"

namespace corelane::tool {

std::span<const Command> commands() {
  static constexpr Command table[] = {
      {"trace", "look at what a server recorded, replay it, or write it for Perfetto", &define_trace},
      {"measure", "find out how long operations execute, and which budget would hold", &define_measure},
      {"ping", "call an object, and say over which transport, why over that one, and how long it takes", &define_ping},
      {"top", "show the tasks, cores, misses and budgets of this host's servers", &define_top},
  };
  return table;
}

void add_format(CLI::App& app, Format& format) {
  app.add_option_function<std::string>(
         "--format", [&format](const std::string& name) { format = name == "json" ? Format::json : Format::table; },
         "how it is shown")
      ->type_name("table|json")
      ->check(CLI::IsMember({"table", "json"}, CLI::ignore_case).description(""))
      ->default_str("table");
}

}  // namespace corelane::tool
