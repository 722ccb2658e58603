// MadeGroups makes and removes control groups of cgroup v1. Each group is in the journal before it exists. If a process
// that is slow to end keeps a group busy, its removal is tried again later.
// Threads: as Backend.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "services/reserved/backends/backend.h"

namespace corelane::reserved {

class MadeGroups {
 public:
  explicit MadeGroups(Journal& journal) : journal_(&journal) {}

  // Makes a group. `hierarchy`: its name in the journal. `home`: the group that its members go to after a crash.
  Done<void> make(GroupFiles& groups, const std::string& hierarchy, const std::string& path, const std::string& home);
  // Removes a group and moves its members to `to`. If that fails, the group's entry stays in the journal, and retry()
  // tries again.
  void remove(GroupFiles& groups, const std::string& hierarchy, const std::string& path, const std::string& to);
  void retry();
  // Returns the paths of the groups of the hierarchy that could not be removed yet.
  std::vector<std::string> left(const GroupFiles& groups) const;

 private:
  struct Left {
    GroupFiles* groups;
    std::string hierarchy, path, to;
  };
  Journal* journal_;
  std::map<std::string, Left> left_{};
  int patience_ = removal_patience;  // rounds left to wait for removals, all groups together, until the next retry()
};

// Returns a fault if there are groups of this program below the root, in either hierarchy, that are not in the journal.
// They belong to another daemon, and must not be treated as this daemon's own.
Done<void> nobody_else(const Host& host, const std::string& root);

}  // namespace corelane::reserved
