// The settings of connections, of channels and of Unix sockets. See orb/base/settings/setting.h.
// Threads: constant tables.
#pragma once

#include "orb/base/settings/setting.h"
#include "orb/transport/channel_options.h"
#include "orb/transport/transport.h"
#include "orb/transport/unix_options.h"

namespace corelane::transport {

SettingsOf<ConnectionLimits> connection_settings();
SettingsOf<ChannelOptions> channel_settings();
SettingsOf<UnixOptions> unix_settings();

}  // namespace corelane::transport
