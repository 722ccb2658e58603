#include "services/reserved/backends/made_groups.h"

#include <algorithm>
#include <utility>

namespace corelane::reserved {
namespace {

const JournalEntry* find_group(const Journal& journal, const std::string& hierarchy, const std::string& path) {
  const auto& entries = journal.entries();
  const auto entry = std::ranges::find_if(entries, [&](const JournalEntry& one) {
    return one.kind == JournalEntry::Kind::group && one.where == hierarchy && one.subject == path;
  });
  return entry == entries.end() ? nullptr : &*entry;
}

// Recognizes the group of a set: "corelane-r17", "corelane-s3".
bool is_set(const std::string& name) {
  const std::string prefix = group_name("");
  if (!name.starts_with(prefix) || name.size() < prefix.size() + 2) return false;
  return (name[prefix.size()] == 'r' || name[prefix.size()] == 's') &&
         name.find_first_not_of("0123456789", prefix.size() + 1) == std::string::npos;
}

}  // namespace

Done<void> MadeGroups::make(GroupFiles& groups, const std::string& hierarchy, const std::string& path,
                            const std::string& home) {
  if (find_group(*journal_, hierarchy, path) == nullptr)  // a group that was left still has its entry
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
  if (remove_emptied(groups, path, to, thread_list, patience_) != 0) {
    left_[hierarchy + ":" + path] = {&groups, hierarchy, path, to};
    return;
  }
  if (const JournalEntry* const entry = find_group(*journal_, hierarchy, path)) journal_->drop(JournalEntry(*entry));
}

void MadeGroups::retry() {
  patience_ = 0;  // do not wait: those groups were waited for already
  for (const auto& [name, left] : std::exchange(left_, {})) remove(*left.groups, left.hierarchy, left.path, left.to);
  patience_ = removal_patience;
}

std::vector<std::string> MadeGroups::left(const GroupFiles& groups) const {
  std::vector<std::string> paths;
  for (const auto& [name, left] : left_)
    if (left.groups == &groups) paths.push_back(left.path);
  return paths;
}

Done<void> nobody_else(const Host& host, const std::string& root) {
  const auto is_foreign = [&](const char* hierarchy, const std::string& path) {
    return find_group(*host.journal, hierarchy, path) == nullptr;
  };
  std::string found;
  if (const std::string path = joined_path(root, default_group);
      host.cpuset != nullptr && host.cpuset->has(path) && is_foreign("cpuset", path))
    found = host.cpuset->absolute(path);
  if (host.unified != nullptr)
    for (const std::string& child : host.unified->children(root))
      if (const std::string path = joined_path(root, child); is_set(child) && is_foreign("unified", path))
        found = host.unified->absolute(path);
  if (found.empty()) return {};
  return found +
         " is there, and this server's journal does not tell of it: another corelane-reserved works below the same "
         "root, or one "
         "with another runtime directory was killed. Stop that one; or start corelane-reserved once with its "
         "-ORBRuntimeDirectory, which puts the host back; or name another reserved.root";
}

}  // namespace corelane::reserved
