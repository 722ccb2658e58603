#include "services/reserved/daemon/settings.h"

#include <string>
#include <string_view>

#include "orb/base/settings/setting_values.h"
#include "orb/channel/access.h"

namespace corelane::reserved {
namespace setting_values {
namespace {

std::string backend(DaemonSettings& s, std::string_view text) {
  using Backend = DaemonSettings::Backend;
  return parse::choice(text, s.backend,
                       {{"auto", Backend::automatic},
                        {"cgroup-v2", Backend::cgroup_v2},
                        {"cgroup-v1", Backend::cgroup_v1},
                        {"affinity", Backend::affinity}});
}

std::string root(DaemonSettings& s, std::string_view text) {
  while (text.starts_with('/')) text.remove_prefix(1);
  if (text.ends_with('/') || text.find("..") != text.npos || text.find_first_of("\t\n") != text.npos)
    return "a control group such as /machine, without .. and without a slash at its end";
  s.root = text;
  return {};
}

std::string processes(DaemonSettings& s, std::string_view text) {
  constexpr int highest = 1 << 22;  // PID_MAX_LIMIT of Linux
  if (text == "all") return s.processes = 0, std::string{};
  return parse::number(text, s.processes, 1, highest).empty() ? std::string{} : "all, or the number of a process";
}

}  // namespace
}  // namespace setting_values

SettingsOf<DaemonSettings> daemon_settings() {
  using S = DaemonSettings;
  using V = std::string_view;
  static const Setting<S> all[] = {
      {"reserved.backend", "auto",
       "How corelane-reserved keeps others away from reserved cores: cgroup-v2, cgroup-v1, affinity (it cannot keep "
       "out a thread that sets its own affinity), or auto (the first of these that works here)",
       setting_values::backend},
      {"reserved.root", "/", "The control group below which corelane-reserved makes its own. /: all of the host",
       setting_values::root},
      {"reserved.processes", "all",
       "Which processes corelane-reserved moves. all, or the number of a process: that process and those that it "
       "starts. Then other processes are neither touched nor kept out, cannot reserve, and the backend is affinity",
       setting_values::processes},
      {"reserved.keep", "",
       "Hardware threads that corelane-reserved never gives away, such as 0,4-5. Without it, those of the first core",
       [](S& s, V v) {
         return v.empty() ? std::string{} : v == "all" ? "hardware threads such as 0,4-5" : parse::cores(v, s.keep);
       }},
      {"reserved.users", "none",
       "Users who may reserve cores, besides root and the daemon's own user: anyone, none, or names or numbers of "
       "users, and groups as @name (all members)",
       [](S& s, V v) { return channel::parse_access(v, s.users); }},
      {"reserved.interrupts", "on", "off: corelane-reserved leaves interrupts where they are",
       [](S& s, V v) { return parse::yes_or_no(v, s.interrupts); }},
      {"reserved.memory_rest", "10", "Percent of the host's memory that corelane-reserved never promises",
       [](S& s, V v) { return parse::number<unsigned>(v, s.memory_rest, 0, 100); }},
  };
  return all;
}

}  // namespace corelane::reserved
