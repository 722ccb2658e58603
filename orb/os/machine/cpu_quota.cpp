#include "orb/os/machine/cpu_quota.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <utility>
#include <vector>

#include "orb/os/machine/mounts.h"

namespace corelane::os {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

struct Group {
  std::string controllers;  // "" in version 2
  std::string path;
};

std::vector<Group> groups_in(const std::string& cgroups) {
  std::vector<Group> groups;
  std::ifstream in(cgroups);
  for (std::string line; std::getline(in, line);) {  // NUMBER:CONTROLLERS:PATH
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    groups.push_back({line.substr(first + 1, second - first - 1), line.substr(second + 1)});
  }
  return groups;
}

std::optional<std::size_t> quota_of_folder(const std::string& folder, bool is_version_2) {
  if (is_version_2) return cores_of_quota(first_line(folder + "/cpu.max"));
  return cores_of_quota(first_line(folder + "/cpu.cfs_quota_us") + ' ' + first_line(folder + "/cpu.cfs_period_us"));
}

}  // namespace

std::optional<std::size_t> cores_of_quota(std::string_view cpu_max) noexcept {
  long quota = 0, period = 0;
  const char* const end = cpu_max.data() + cpu_max.size();
  const auto first = std::from_chars(cpu_max.data(), end, quota);
  if (first.ec != std::errc{} || first.ptr == end || *first.ptr != ' ') return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, period);
  if (second.ec != std::errc{} || quota <= 0 || period <= 0) return std::nullopt;  // -1: no quota in version 1
  return static_cast<std::size_t>(std::max(quota / period, 1L));
}

std::optional<std::size_t> quota_of_groups(const std::string& cgroups, const std::string& mountinfo) {
  std::optional<std::size_t> least;
  const std::vector<Mount> mounts = read_mounts(mountinfo);
  for (const auto& [controllers, path] : groups_in(cgroups)) {
    const bool is_version_2 = controllers.empty();
    if (!is_version_2 && !has_word(controllers, "cpu")) continue;
    const auto mount = cgroup_mount(mounts, is_version_2 ? "" : "cpu");
    if (!mount) continue;
    std::string folder = folder_of_group(*mount, path);
    while (folder.size() >= mount->point.size()) {  // bound: the path's length
      if (const auto quota = quota_of_folder(folder, is_version_2)) least = std::min(least.value_or(*quota), *quota);
      folder.erase(std::min(folder.rfind('/'), folder.size()));
    }
  }
  return least;
}

}  // namespace corelane::os
