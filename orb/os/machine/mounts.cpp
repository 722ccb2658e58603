#include "orb/os/machine/mounts.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <tuple>

namespace corelane::os {
namespace {

// Decodes \ooo, which mountinfo uses for blanks, newlines and backslashes.
std::string unescaped(std::string_view text) {
  const auto is_octal = [](char c) { return c >= '0' && c <= '7'; };
  std::string path;
  while (!text.empty()) {  // bound: the text
    const bool escaped = text.size() >= 4 && text[0] == '\\' && std::ranges::all_of(text.substr(1, 3), is_octal);
    path += escaped ? static_cast<char>((text[1] - '0') * 64 + (text[2] - '0') * 8 + (text[3] - '0')) : text[0];
    text.remove_prefix(escaped ? 4 : 1);
  }
  return path;
}

// Parses one line. The optional fields end with a "-".
std::optional<Mount> parse_mount(const std::string& line) {
  std::istringstream words(line);
  std::string id, parent, device, word, source;
  Mount mount;
  words >> id >> parent >> device >> mount.root >> mount.point;
  while (words >> word && word != "-") continue;  // bound: the line
  if (!(words >> mount.type >> source >> mount.options)) return std::nullopt;
  mount.root = unescaped(mount.root);
  mount.point = unescaped(mount.point);
  return mount;
}

bool is_usual(const Mount& mount) {
  constexpr std::string_view place = "/sys/fs/cgroup";
  return mount.point.starts_with(place) && (mount.point.size() == place.size() || mount.point[place.size()] == '/');
}

}  // namespace

bool has_word(std::string_view list, std::string_view word, char between) {
  for (;;) {  // bound: the list
    const std::size_t end = list.find(between);
    if (list.substr(0, end) == word) return true;
    if (end == list.npos) return false;
    list.remove_prefix(end + 1);
  }
}

std::vector<Mount> parse_mounts(std::string_view mountinfo) {
  std::vector<Mount> mounts;
  std::istringstream lines{std::string(mountinfo)};
  for (std::string line; std::getline(lines, line);)
    if (auto mount = parse_mount(line)) mounts.push_back(*std::move(mount));
  return mounts;
}

std::vector<Mount> read_mounts(const std::string& mountinfo) {
  std::ifstream file(mountinfo);
  std::ostringstream text;
  text << file.rdbuf();
  return parse_mounts(text.str());
}

std::optional<Mount> cgroup_mount(const std::vector<Mount>& mounts, std::string_view controller) {
  const auto rank = [](const Mount& mount) { return std::tuple(!is_usual(mount), mount.point.size()); };
  const Mount* found = nullptr;
  for (const Mount& mount : mounts) {
    const bool meant =
        controller.empty() ? mount.type == "cgroup2" : mount.type == "cgroup" && has_word(mount.options, controller);
    if (meant && (found == nullptr || rank(mount) < rank(*found))) found = &mount;
  }
  return found == nullptr ? std::nullopt : std::optional(*found);
}

std::string folder_of_group(const Mount& mount, const std::string& group) {
  const bool is_below = mount.root != "/" && (group + '/').starts_with(mount.root + '/');
  const std::string below = is_below ? group.substr(mount.root.size()) : group;
  return mount.point + (below == "/" ? "" : below);
}

}  // namespace corelane::os
