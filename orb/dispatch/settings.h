// The settings of tasks and of the threads that run requests. See orb/base/settings/setting.h.
// Threads: a constant table.
#pragma once

#include "orb/base/settings/setting.h"
#include "orb/dispatch/executive.h"

namespace corelane::dispatch {

SettingsOf<ExecutiveOptions> executive_settings();

}  // namespace corelane::dispatch
