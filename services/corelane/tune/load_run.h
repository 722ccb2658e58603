// run_load() runs the program that `corelane tune` measures, and reads its figure of merit.
// Threads: the caller's; it waits for the program.
#pragma once

#include <functional>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/time.h"

namespace corelane::tool {

struct LoadProgram {
  std::vector<std::string> command{};
  // Its first group, or all that it matches, is the figure; the last match counts. Nothing: the last line with text is
  // a number.
  std::optional<std::regex> metric{};
  Duration timeout{};                  // for the program, and for finding the figure in its output
  std::function<bool()> is_to_stop{};  // is asked while the program runs; empty: never stops
};

// Why there is no figure, and what to do.
struct LoadFault {
  std::string text;
};

// Runs the program with these variables ("NAME=VALUE") in its environment. The figure is above 0. If it fails, takes
// too long or is to stop, the program's whole process group is killed. Throws std::system_error if the program cannot
// be started.
Expected<double, LoadFault> run_load(const LoadProgram& load, const std::vector<std::string>& variables);

// Returns the figure that this output has. `metric`: see LoadProgram. It has until `deadline` to match, or until
// `is_to_stop` returns true.
Expected<double, LoadFault> figure_of(const std::string& output, const std::optional<std::regex>& metric,
                                      Time deadline = never, const std::function<bool()>& is_to_stop = {});

}  // namespace corelane::tool
