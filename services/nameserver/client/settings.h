// The settings of Registration. See orb/base/settings/setting.h.
// Threads: values, and a constant table.
#pragma once

#include "orb/base/settings/setting.h"

namespace corelane::naming {

struct RegistrationSettings {
  bool replace = true;  // whether a Registration replaces a name that is bound
};

SettingsOf<RegistrationSettings> registration_settings();

}  // namespace corelane::naming
