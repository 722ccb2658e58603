// ControllerSwitch switches on controllers of cgroup v2. A group has a controller only if its parent has switched it on
// for the groups below. A controller that was off in the root is switched off again at the end, by the journal.
// Threads: as Backend.
#pragma once

#include <string>
#include <utility>

#include "services/reserved/backends/backend.h"

namespace corelane::reserved {

class ControllerSwitch {
 public:
  ControllerSwitch(const Host& host, std::string root) : host_(&host), root_(std::move(root)) {}

  // Switches the controller on for the groups directly below the root.
  Done<void> switch_on(const std::string& controller) { return switch_on_in(root_, controller); }
  // Switches the controller on for the groups directly below `group`, which is directly below the root.
  Done<void> switch_on_below(const std::string& group, const std::string& controller);

 private:
  Done<void> switch_on_in(const std::string& group, const std::string& controller);

  const Host* host_;
  const std::string root_;
};

// Returns whether the root's groups could have the controller, such as "cpuset", "cpu" or "memory".
bool has_controller(const GroupFiles& groups, const std::string& root, const std::string& controller);

}  // namespace corelane::reserved
