// The settings of a nameserver that keeps names in etcd. See orb/base/settings/setting.h.
// Threads: values, and a constant table.
#pragma once

#include <string>

#include "orb/base/settings/setting.h"

namespace corelane::nameserver {

struct EtcdSettings {
  std::string user, password_file;  // empty: without a login
  std::string ca_file, certificate_file, key_file;
  std::string copy;  // empty: a file, see naming.etcd_copy; "off": none
};

SettingsOf<EtcdSettings> etcd_settings();

}  // namespace corelane::nameserver
