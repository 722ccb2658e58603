#include "orb/os/machine/core_domain.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>
#include <utility>

#include "orb/os/machine/core_list.h"
#include "orb/os/machine/mounts.h"

namespace corelane::os {
namespace {

constexpr const char* balance_file = "/cpuset.sched_load_balance";

std::string line_of_file(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

// Writes a kernel file, which takes a value in one piece. Returns 0 or the error number.
int write_value(const std::string& path, const std::string& text) {
  std::ofstream out(path);
  errno = 0;
  out << text << std::flush;
  return out ? 0 : errno != 0 ? errno : EIO;
}

std::string fault_text(const std::string& path, int fault) {
  return path + " cannot be changed: " + std::strerror(fault);
}

// Returns the process's cpuset in the hierarchy of cgroup v1, or "" if there is none.
std::string cpuset_of_process(const std::string& cgroups) {
  std::ifstream in(cgroups);
  for (std::string line; std::getline(in, line);) {
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (second == line.npos || !has_word(line.substr(first + 1, second - first - 1), "cpuset")) continue;
    return line.substr(second + 1);
  }
  return {};
}

// Returns whether a cpuset between the hierarchy's root and this one balances its load. Then all cpusets below it are
// in one domain.
bool is_balanced_above(const std::string& mount, std::string folder) {
  while (folder.size() > mount.size()) {  // bound: the path
    folder.erase(folder.rfind('/'));
    if (line_of_file(folder + balance_file) != "0") return true;
  }
  return false;
}

// Returns the folder of the process's own cpuset.
Expected<std::string, std::string> own_folder(const std::string& cgroups, const std::string& mounts) {
  const std::string group = cpuset_of_process(cgroups);
  const auto mount = cgroup_mount(read_mounts(mounts), "cpuset");
  if (group.empty() || !mount)
    return Unexpected{std::string("cpusets of cgroup v1 are not mounted here; v2 has no such domains")};
  if (group == "/" || group == mount->root)
    return Unexpected{
        std::string("the process has no cpuset of its own: start corelane-reserved, or run the server "
                    "under corelane reserve")};
  std::string folder = folder_of_group(*mount, group);
  if (line_of_file(folder + "/cpuset.cpu_exclusive") != "1")
    return Unexpected{folder + " is not exclusive: it shares its cores with other cpusets"};
  if (is_balanced_above(mount->point, folder))
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
  return;  // no memory: the process that made the cpuset removes it
}

}  // namespace corelane::os
