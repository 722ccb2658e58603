// Command: one subcommand of the program `corelane`. A new one is a file of its own and a row in commands.cpp.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "services/corelane/format.h"

namespace CLI {
class App;
}

namespace corelane::tool {

// The end of the program: 0 done, 1 it failed and said why, 2 the command line was wrong.
using Status = int;

struct Command {
  std::string_view name;
  std::string_view summary;
  // Adds the options to the command's own parser; gives what is to be done when they have been read.
  std::function<Status()> (*define)(CLI::App& app);
};

std::span<const Command> commands();

std::function<Status()> define_trace(CLI::App& app);
// --format table|json, for commands that can show their results either way.
void add_format(CLI::App& app, Format& format);

std::function<Status()> define_measure(CLI::App& app);
std::function<Status()> define_ping(CLI::App& app);
std::function<Status()> define_top(CLI::App& app);

}  // namespace corelane::tool
