// Returns the settings to a program that reads them before its ORB does, or has no ORB.
// Threads: reads files and the environment, at start.
//
// The folder orb/core/config reads settings from files, environment and command line, and says what is wrong with them.
#pragma once

#include <string>
#include <vector>

#include "orb/base/expected.h"
#include "orb/core/settings.h"
#include "orb/core/settings_fault.h"

namespace corelane::core {

// Returns the settings that ORB_init would find. They come from these -ORB options, each followed by its value, from
// CORELANE_ variables and from the configuration file.
Expected<Settings, SettingsFault> settings_of(std::vector<std::string> orb_options);

}  // namespace corelane::core
