#include "services/nameserver/client/settings.h"

#include <string_view>

#include "orb/base/settings/setting_values.h"

namespace corelane::naming {

SettingsOf<RegistrationSettings> registration_settings() {
  using S = RegistrationSettings;
  using V = std::string_view;
  static const Setting<S> all[] = {
      {"naming.replace", "on",
       "off: a server whose name is bound already does not take it over (corelane::naming::Registration raises "
       "AlreadyBound), so a second copy of it does not start. on: it takes the name over, and its log says which "
       "process had it",
       [](S& s, V v) { return parse::yes_or_no(v, s.replace); }},
  };
  return all;
}

}  // namespace corelane::naming
