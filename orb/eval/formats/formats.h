// The formats of files with tasks, one source file each. scenario_formats.h has the interface and the table.
//
// Threads: constants.
//
// The folder orb/eval/formats reads and writes the files of other programs.
#pragma once

#include "orb/eval/scenario_formats.h"

namespace corelane::eval::formats {

extern const ScenarioFormat toml, rt_app, simso, jobs;

}  // namespace corelane::eval::formats
