#include "orb/os/core_domain.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>

#include "orb/os/core_list.h"

namespace corelane::os {
namespace {

constexpr const char* balance_file = "/cpuset.sched_load_balance";

std::string line_of_file(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

// A kernel's file takes a value in one piece. 0, or the error number.
int write_value(const std::string& path, const std::string& text) {
  std::ofstream out(path);
  errno = 0;
  out << text << std::flush;
  return out ? 0 : errno != 0 ? errno : EIO;
}

std::string fault_text(const std::string& path, int fault) {
  return path + " cannot be changed: " + std::strerror(fault);
}

bool has_word(const std::string& list, std::string_view word) {
  std::istringstream in(list);
  for (std::string each; std::getline(in, each, ',');)
    if (each == word) return true;
  return false;
}

// Of the process in the hierarchy of v1's cpusets; "" where there is none.
std::string cpuset_of_process(const std::string& cgroups) {
  std::ifstream in(cgroups);
  for (std::string line; std::getline(in, line);) {
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (second == line.npos || !has_word(line.substr(first + 1, second - first - 1), "cpuset")) continue;
    return line.substr(second + 1);
  }
  return {};
}

struct Mount {
  std::string root{}, point{};
};

// A path of mountinfo, where blanks, ends of lines and backslashes stand as \ooo (proc(5)).
std::string path_of_mountinfo(std::string_view text) {
  const auto is_octal = [](char c) { return c >= '0' && c <= '7'; };
  std::string path;
  while (!text.empty()) {  // bound: the text
    const bool escaped = text.size() >= 4 && text[0] == '\\' && std::ranges::all_of(text.substr(1, 3), is_octal);
    path += escaped ? static_cast<char>((text[1] - '0') * 64 + (text[2] - '0') * 8 + (text[3] - '0')) : text[0];
    text.remove_prefix(escaped ? 4 : 1);
  }
  return path;
}

// Where v1's cpusets are mounted (proc(5), mountinfo).
Mount cpuset_mount(const std::string& mounts) {
  std::ifstream in(mounts);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string id, parent, device, type, source, options;
    Mount mount;
    words >> id >> parent >> device >> mount.root >> mount.point;
    while (words >> type && type != "-") continue;  // bound: the line
    if (words >> type >> source >> options && type == "cgroup" && has_word(options, "cpuset"))
      return Mount{path_of_mountinfo(mount.root), path_of_mountinfo(mount.point)};
  }
  return {};
}

// Whether a cpuset between the hierarchy's root and this one balances: then there is one domain for all below it.
bool is_balanced_above(const std::string& mount, std::string folder) {
  while (folder.size() > mount.size()) {  // bound: the path
    folder.erase(folder.rfind('/'));
    if (line_of_file(folder + balance_file) != "0") return true;
  }
  return false;
}

// The folder of the process's own cpuset.
Expected<std::string, std::string> own_folder(const std::string& cgroups, const std::string& mounts) {
  const std::string group = cpuset_of_process(cgroups);
  const Mount mount = cpuset_mount(mounts);
  if (group.empty() || mount.point.empty())
    return Unexpected{std::string("cpusets of cgroup v1 are not mounted here; v2 has no such domains")};
  if (group == "/" || group == mount.root)
    return Unexpected{
        std::string("the process has no cpuset of its own: start corelane-reserved, or run the server "
                    "under corelane reserve")};
  const bool is_below = mount.root != "/" && group.starts_with(mount.root + '/');
  std::string folder = mount.point + (is_below ? group.substr(mount.root.size()) : group);
  if (line_of_file(folder + "/cpuset.cpu_exclusive") != "1")
    return Unexpected{folder + " is not exclusive: it shares its cores with other cpusets"};
  if (is_balanced_above(mount.point, folder))
    return Unexpected{"a cpuset above " + folder + " balances its load (cpuset.sched_load_balance)"};
  return folder;
}

}  // namespace

CoreDomain& CoreDomain::operator=(CoreDomain&& other) noexcept {
  std::swap(folder_, other.folder_);
  std::swap(made_, other.made_);
  return *this;
}

Expected<CoreDomain, std::string> CoreDomain::part(std::span<const CoreId> cores, const std::string& cgroups,
                                                   const std::string& mounts) {
  const auto folder = own_folder(cgroups, mounts);
  if (!folder) return Unexpected{folder.error()};
  const std::string list = line_of_file(*folder + "/cpuset.cpus");
  const auto present = parse_core_list(list);
  if (!present) return Unexpected{*folder + "/cpuset.cpus: '" + list + "' is no list of cores"};
  const std::string nodes = line_of_file(*folder + "/cpuset.mems");
  std::vector<CoreId> rest;
  std::ranges::copy_if(*present, std::back_inserter(rest),
                       [&](CoreId core) { return std::ranges::find(cores, core) == cores.end(); });
  if (rest.size() + cores.size() != present->size())
    return Unexpected{*folder + " lacks some of these cores: it has " + core_list_text(*present)};
  CoreDomain domain;
  domain.folder_ = *folder;
  for (const CoreId core : cores) {
    const std::string own = std::to_string(core.value);
    if (auto made = domain.make("corelane-core-" + own, own, nodes); !made) return Unexpected{made.error()};
  }
  if (!rest.empty())
    if (auto made = domain.make("corelane-rest", core_list_text(rest), nodes); !made) return Unexpected{made.error()};
  if (const int fault = write_value(*folder + balance_file, "0"); fault != 0)
    return Unexpected{fault_text(*folder + balance_file, fault)};
  return domain;
}

Expected<void, std::string> CoreDomain::make(const std::string& name, const std::string& cores,
                                             const std::string& nodes) {
  const std::string child = folder_ + "/" + name;
  if (mkdir(child.c_str(), 0755) == 0)
    made_.push_back(child);
  else if (errno != EEXIST)
    return Unexpected{child + " cannot be made: " + std::strerror(errno) + "; run as root"};
  for (const auto& [file, text] : {std::pair{"/cpuset.cpus", &cores}, std::pair{"/cpuset.mems", &nodes}})
    if (const int fault = write_value(child + file, *text); fault != 0)
      return Unexpected{fault_text(child + file, fault)};
  return {};
}

void CoreDomain::undo() noexcept try {
  if (folder_.empty() || made_.empty()) return;
  (void)write_value(folder_ + balance_file, "1");
  for (const std::string& child : made_) (void)rmdir(child.c_str());
  made_.clear();
} catch (...) {
  return;  // without memory: whoever gave the cpuset takes it back
}

}  // namespace corelane::os
