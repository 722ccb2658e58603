// Lists the settings that the services declare. This file and those of the tables are compiled into the library of
// orb/core (services/CMakeLists.txt).
#include "services/nameserver/client/settings.h"

#include "orb/core/config/settings_list.h"
#include "services/nameserver/settings.h"
#include "services/nameserver/stores/etcd/etcd_settings.h"
#include "services/reserved/daemon/settings.h"

namespace corelane::core {

void add_settings_of_services(std::vector<SettingsEntry>& table) {
  add_settings(table, naming::registration_settings());
  add_settings(table, nameserver::nameserver_settings());
  add_settings(table, nameserver::etcd_settings());
  add_settings(table, reserved::daemon_settings());
}

}  // namespace corelane::core
