// MadeGroups: control groups that this program makes: each is in the journal before it is there, and one that a process
// which takes long to end keeps busy is tried again later. Threads: as Backend.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "services/reserved/backends/backend.h"

namespace corelane::reserved {

class MadeGroups {
 public:
  explicit MadeGroups(Journal& journal) : journal_(&journal) {}

  // `hierarchy`: as the journal names it. `home`: where its members go after a crash.
  Done<void> make(GroupFiles& groups, const std::string& hierarchy, const std::string& path, const std::string& home);
  // Who is there goes to `to`. Where the group does not go it stays in the journal, and retry() comes back.
  void remove(GroupFiles& groups, const std::string& hierarchy, const std::string& path, const std::string& to);
  void retry();
  // Paths of those of the hierarchy that could not be removed yet.
  std::vector<std::string> left(const GroupFiles& groups) const;

 private:
  struct Left {
    GroupFiles* groups;
    std::string hierarchy, path, to;
  };
  Journal* journal_;
  std::map<std::string, Left> left_{};
  int patience_ = removal_patience;  // with all of them together, until the next retry()
};

// A fault where groups of this program are below the root, in either hierarchy, that the journal does not tell of:
// those of another one, which are not to be taken for one's own.
Done<void> nobody_else(const Host& host, const std::string& root);

}  // namespace corelane::reserved
