#include "orb/leader_followers/settings.h"

#include <string>
#include <string_view>

#include "orb/base/settings/setting_values.h"

namespace corelane::leader_followers {
namespace setting_values {
namespace {

std::string placement(PoolOptions& s, std::string_view text) {
  return parse::choice(text, s.placement,
                       {{"unbound", Placement::unbound},
                        {"round-robin", Placement::round_robin},
                        {"single-core", Placement::single_core}});
}

}  // namespace
}  // namespace setting_values

SettingsOf<PoolOptions> pool_settings() {
  using S = PoolOptions;
  using V = std::string_view;
  static const Setting<S> all[] = {
      {"followers.threads", "4", "Threads of the mode leader-followers",
       [](S& s, V v) { return parse::number<int>(v, s.threads, 1, 256); }},
      {"followers.placement", "unbound",
       "Where they run: unbound, round-robin (bound to the cores in turn) or single-core (all on the first core)",
       setting_values::placement},
  };
  return all;
}

}  // namespace corelane::leader_followers
