// ControllerSwitch: controllers of cgroup v2, which a group has only where its parent has switched them on for those
// below it. What was off in the root is off again in the end, by the journal. Threads: as Backend.
#pragma once

#include <string>
#include <utility>

#include "services/reserved/backends/backend.h"

namespace corelane::reserved {

class ControllerSwitch {
 public:
  ControllerSwitch(const Host& host, std::string root) : host_(&host), root_(std::move(root)) {}

  // For the groups that are right below the root.
  Done<void> switch_on(const std::string& controller) { return switch_on_in(root_, controller); }
  // For those right below `group`, which is right below the root.
  Done<void> switch_on_below(const std::string& group, const std::string& controller);

 private:
  Done<void> switch_on_in(const std::string& group, const std::string& controller);

  const Host* host_;
  const std::string root_;
};

// Whether the root's groups could have it: "cpuset cpu memory".
bool has_controller(const GroupFiles& groups, const std::string& root, const std::string& controller);

}  // namespace corelane::reserved
