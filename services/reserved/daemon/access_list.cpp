#include "services/reserved/daemon/access_list.h"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>

namespace corelane::reserved {
namespace {

constexpr std::size_t lookup_bytes = 64 * 1024;

std::string group_name_of(gid_t group) {
  std::vector<char> memory(lookup_bytes);
  struct group entry {};
  struct group* found = nullptr;
  if (getgrgid_r(group, &entry, memory.data(), memory.size(), &found) != 0 || found == nullptr) return {};
  return found->gr_name;
}

std::string list_of_names(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "nobody" : text;
}

bool has_name(const std::vector<std::string>& list, const std::string& name) {
  return std::ranges::find(list, name) != list.end() || std::ranges::find(list, "*") != list.end();
}

}  // namespace

UserNames names_of_user(std::uint32_t user) {
  UserNames names{.user = std::to_string(user)};
  std::vector<char> memory(lookup_bytes);
  struct passwd entry {};
  struct passwd* found = nullptr;
  if (getpwuid_r(user, &entry, memory.data(), memory.size(), &found) != 0 || found == nullptr) return names;
  names.user = found->pw_name;
  std::vector<gid_t> groups(256);
  int count = static_cast<int>(groups.size());
  if (getgrouplist(found->pw_name, found->pw_gid, groups.data(), &count) < 0)
    count = static_cast<int>(groups.size());  // those that found room
  for (int i = 0; i < count; ++i) {
    names.groups.push_back(std::to_string(groups[static_cast<std::size_t>(i)]));
    if (auto name = group_name_of(groups[static_cast<std::size_t>(i)]); !name.empty()) names.groups.push_back(name);
  }
  return names;
}

Expected<void, Refusal> AccessList::admits(std::uint32_t user, const UserNames& names) const {
  if (user == 0 || has_name(users_, names.user) || has_name(users_, std::to_string(user))) return {};
  for (const std::string& group : names.groups)
    if (has_name(groups_, group)) return {};
  return Refusal{.kind = RefusalKind::no_right,
                 .reason = "user " + names.user + " may not reserve cores here: only " + list_of_names(users_) +
                           " (reserved.users) and members of " + list_of_names(groups_) +
                           " (reserved.groups) may. As root: usermod -aG GROUP " + names.user +
                           " with such a group, or add the user to reserved.users in /etc/corelane.toml and restart "
                           "corelane-reserved"};
}

}  // namespace corelane::reserved
