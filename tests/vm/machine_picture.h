// Records what a reservation may change on a machine: control groups, where threads run, where interrupts go. Compare
// the pictures before and after.
// Threads: one.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <system_error>
#include <vector>

#include "orb/os/machine/core_list.h"
#include "orb/os/machine/host.h"
#include "services/reserved/backends/cores/memory_of_threads.h"
#include "services/reserved/backends/process_table.h"

namespace corelane::testing {

class MachinePicture {
 public:
  static MachinePicture taken() {
    MachinePicture picture;
    picture.take_threads();
    picture.take_groups("/sys/fs/cgroup");
    picture.take_interrupts();
    return picture;
  }
  // Records only these control groups, and the threads of this namespace.
  static MachinePicture taken_of(const std::vector<std::string>& groups) {
    MachinePicture picture;
    picture.take_threads();
    for (const std::string& group : groups) picture.take_groups(group);
    return picture;
  }
  // Returns the differences; "" for none. Threads that began or ended meanwhile do not count.
  std::string difference(const MachinePicture& after) const {
    std::string text;
    for (const auto& [what, was] : threads_)
      if (const auto now = after.threads_.find(what); now != after.threads_.end() && now->second != was)
        text += what + ": " + was + " became " + now->second + "\n";
    auto rest = after.settings_;
    for (const auto& [what, was] : settings_) {
      const auto now = rest.extract(what);
      if (now.empty() || now.mapped() != was)
        text += what + ": " + was + " became " + (now ? now.mapped() : "-") + "\n";
    }
    for (const auto& [what, now] : rest) text += what + " is new: " + now + "\n";
    return text;
  }
  std::size_t threads() const { return threads_.size(); }
  std::size_t settings() const { return settings_.size(); }

 private:
  static std::string text_of(const std::filesystem::path& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  static std::string line_of(const std::filesystem::path& file) {
    std::string text = text_of(file);
    std::ranges::replace(text, '\n', ' ');
    return text;
  }

  void take_threads() {
    const reserved::HostProcesses processes;
    for (const int pid : processes.all())
      for (const int thread : processes.threads_of(pid)) {
        const auto identity = processes.identity(thread);
        const auto cores = processes.affinity(thread);
        const std::string folder = "/proc/" + std::to_string(thread);
        const auto scheduling = processes.scheduling(thread);
        if (!identity || !cores || !scheduling || processes.is_fixed(thread)) continue;
        threads_["thread " + std::to_string(thread) + " (" + line_of(folder + "/comm") + "since " +
                 std::to_string(identity->start_ticks) + ")"] = "cores " + os::core_list_text(*cores) + ", policy " +
                                                                reserved::scheduling_text(*scheduling) + ", groups " +
                                                                line_of(folder + "/cgroup");
      }
  }
  void take_groups(const std::string& top) {
    std::error_code fault;
    std::filesystem::recursive_directory_iterator at(top, fault);
    if (fault) return;
    take_group(top);
    for (const auto& entry : at)
      if (entry.is_directory(fault)) take_group(entry.path());
  }
  void take_group(const std::filesystem::path& group) {
    settings_[group] = "a folder";
    for (const char* const name : {"cpuset.cpus", "cpuset.mems", "cpuset.cpu_exclusive", "cpuset.sched_load_balance",
                                   "cpuset.cpus.partition", "cpu.cfs_quota_us", "cpu.max", "cgroup.subtree_control"})
      if (std::filesystem::exists(group / name)) settings_[group / name] = line_of(group / name);
  }
  void take_interrupts() {
    std::error_code fault;
    settings_["/proc/irq/default_smp_affinity"] = line_of("/proc/irq/default_smp_affinity");
    for (const auto& entry : std::filesystem::directory_iterator("/proc/irq", fault))
      if (entry.is_directory(fault))
        settings_[entry.path() / "smp_affinity_list"] = line_of(entry.path() / "smp_affinity_list");
  }

  std::map<std::string, std::string> threads_, settings_;
};

}  // namespace corelane::testing
