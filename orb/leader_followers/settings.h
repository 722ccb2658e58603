// The settings of the mode leader-followers. See orb/base/settings/setting.h.
// Threads: a constant table.
#pragma once

#include "orb/base/settings/setting.h"
#include "orb/leader_followers/thread_pool.h"

namespace corelane::leader_followers {

SettingsOf<PoolOptions> pool_settings();

}  // namespace corelane::leader_followers
