#include "services/reserved/backends/made_groups.h"

#include <algorithm>
#include <utility>

namespace corelane::reserved {

Done<void> MadeGroups::make(GroupFiles& groups, const std::string& hierarchy, const std::string& path,
                            const std::string& home) {
  if (auto kept =
          journal_->add({.kind = JournalEntry::Kind::group, .where = hierarchy, .subject = path, .before = home});
      !kept)
    return kept;
  left_.erase(hierarchy + ":" + path);
  if (const int fault = groups.make(path); fault != 0)
    return groups.absolute(path) + " cannot be made: " + errno_text(fault) + "; run as root, or with CAP_SYS_ADMIN";
  return {};
}

void MadeGroups::remove(GroupFiles& groups, const std::string& hierarchy, const std::string& path,
                        const std::string& to) {
  if (remove_emptied(groups, path, to, "tasks", patience_) != 0) {
    left_[hierarchy + ":" + path] = {&groups, hierarchy, path, to};
    return;
  }
  const auto& entries = journal_->entries();
  const auto entry = std::ranges::find_if(entries, [&](const JournalEntry& one) {
    return one.kind == JournalEntry::Kind::group && one.where == hierarchy && one.subject == path;
  });
  if (entry != entries.end()) journal_->drop(JournalEntry(*entry));
}

void MadeGroups::retry() {
  patience_ = 0;  // those were waited for
  for (const auto& [name, left] : std::exchange(left_, {})) remove(*left.groups, left.hierarchy, left.path, left.to);
  patience_ = removal_patience;
}

std::vector<std::string> MadeGroups::left(const GroupFiles& groups) const {
  std::vector<std::string> paths;
  for (const auto& [name, left] : left_)
    if (left.groups == &groups) paths.push_back(left.path);
  return paths;
}

}  // namespace corelane::reserved
