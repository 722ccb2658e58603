// `corelane convert` writes the tasks of a file in another format: scenarios, and the files of rt-app, SimSo and
// np-schedulability-analysis. The options are defined in convert_command.cpp.
// Threads: none of its own; reads and writes files.
//
// The folder services/corelane/convert exchanges tasks with other programs.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

#include "orb/base/time.h"
#include "orb/eval/scenario_formats.h"

namespace corelane::tool {

struct ConvertOptions {
  std::string input{};
  std::string output{};  // a file; empty: the standard output
  std::string format{};  // the name of the output's format; empty: by the ending of `output`, else TOML
  std::int64_t set = 1;  // which of the sets of tasks, if the input has several
  eval::FormatOptions units{};
  bool strict = false;  // whether it is an error that the output cannot express something
};

// Writes the text to the output or to `out`, and complaints and notes to `err`. Returns 0 if it was written, 1 if not
// all could be expressed and `strict` is set, and 2 if the input is wrong.
int convert(const ConvertOptions& options, std::ostream& out, std::ostream& err);

// Returns the names of the formats with their meaning, for the help.
std::string formats_help();

}  // namespace corelane::tool
