// `corelane tune` searches for settings with which a program is faster on this host, and writes them into a file that
// ORBs read at their start. The options are defined in tune_command.cpp.
// Threads: the caller's; it runs the program again and again, and waits for it.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "orb/base/expected.h"
#include "orb/scale/parameter_search.h"
#include "services/corelane/tune/load_run.h"
#include "services/corelane/tune/tuned_parameters.h"

namespace corelane::tool {

struct TuneOptions {
  LoadProgram load{};
  scale::ParameterSearchOptions search{};
  std::string output = "corelane.tuned.toml";
};

// Runs the load with the variables. Tests provide their own.
using RunLoad = std::function<Expected<double, LoadFault>(const std::vector<std::string>& variables)>;

// Returns 0 if the search ended, whether or not there are better values. Returns 1 if the program fails, if the file
// cannot be written, or if load.is_to_stop returns true after a run; then nothing is written.
int tune(const TuneOptions& options, const std::vector<TunedParameter>& parameters, const RunLoad& run,
         std::ostream& out, std::ostream& err);

// Returns the text of the file.
std::string tuned_text(const std::vector<TunedParameter>& parameters, const scale::ParameterSearch& search,
                       const std::string& command);

}  // namespace corelane::tool
