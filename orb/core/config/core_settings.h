// The settings of the ORB itself: of its modes, endpoints, calls and references. See orb/base/settings/setting.h.
// Threads: a constant table.
#pragma once

#include "orb/base/settings/setting.h"
#include "orb/core/settings.h"

namespace corelane::core {

SettingsOf<Settings> core_settings();

}  // namespace corelane::core
