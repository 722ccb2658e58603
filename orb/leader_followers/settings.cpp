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
                        {"single-core", Placement::single_core},
                        {"allocated", Placement::allocated}});
}

}  // namespace
}  // namespace setting_values

SettingsOf<PoolOptions> pool_settings() {
  using S = PoolOptions;
  using V = std::string_view;
  static const Setting<S> all[] = {
      {"followers.threads", "4", "Threads of the mode leader-followers",
       [](S& s, V v) { return parse::number<int>(v, s.threads, 1, 256); }},
      {"followers.placement",
       "unbound",
       "Where these threads run. unbound: where the kernel places them. round-robin: bound to the cores in turn. "
       "single-core: all on the first core. allocated: each task gets a core by dispatch.allocation when it is "
       "admitted, and the thread that has read a request of it moves to that core before it runs the request",
       setting_values::placement,
       {.same = same<&S::placement>, .followers = true}},
  };
  return all;
}

}  // namespace corelane::leader_followers
