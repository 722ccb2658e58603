// The settings of a program that reads them before its ORB does, or has none.
// Threads: reads files and the environment, at start.
#pragma once

#include <string>
#include <vector>

#include "orb/base/expected.h"
#include "orb/core/settings.h"
#include "orb/core/settings_fault.h"

namespace corelane::core {

// Of these -ORB options, each with its value, of CORELANE_ variables and of the configuration file, as ORB_init would
// find them.
Expected<Settings, SettingsFault> settings_of(std::vector<std::string> orb_options);

}  // namespace corelane::core
