// The formats of files with tasks, one source file each. scenario_formats.h has the interface and the table.
//
// Threads: constants.
//
// The folder orb/eval/formats reads and writes the files of other programs.
#pragma once

#include <cstddef>
#include <string_view>

#include "orb/eval/scenario_formats.h"

namespace corelane::eval::formats {

extern const ScenarioFormat toml, rt_app, simso, jobs;

// Returns whether `first` is the first character of the text that is no blank.
template <char first>
bool begins_with(std::string_view text) {
  const std::size_t at = text.find_first_not_of(" \t\r\n");
  return at != text.npos && text[at] == first;
}

}  // namespace corelane::eval::formats
