#include "services/reserved/backends/resources/controller_switch.h"

#include <algorithm>

#include "orb/os/machine/mounts.h"

namespace corelane::reserved {

Done<void> ControllerSwitch::switch_on_in(const std::string& group, const std::string& controller) {
  GroupFiles& groups = *host_->unified;
  const std::string file = joined_path(group, "cgroup.subtree_control");
  if (os::has_word(groups.read(file).value_or(""), controller, ' ')) return {};
  const JournalEntry entry{
      .kind = JournalEntry::Kind::value, .where = "unified", .subject = file, .before = "-" + controller};
  if (group == root_ && std::ranges::count(host_->journal->entries(), entry) == 0)
    if (auto kept = host_->journal->add(entry); !kept) return kept;
  auto done = put(groups, file, "+" + controller);
  if (!done && group == root_) host_->journal->drop(entry);
  return done;
}

// Switches the root's controller on again, too. systemd switches a controller off in the root if none of its units
// needs it, unless it is on in a group below.
Done<void> ControllerSwitch::switch_on_below(const std::string& group, const std::string& controller) {
  if (auto above = switch_on_in(root_, controller); !above) return above;
  return switch_on_in(group, controller);
}

bool has_controller(const GroupFiles& groups, const std::string& root, const std::string& controller) {
  return os::has_word(groups.read(joined_path(root, "cgroup.controllers")).value_or(""), controller, ' ');
}

}  // namespace corelane::reserved
