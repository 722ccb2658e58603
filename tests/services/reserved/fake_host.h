// A fake kernel: processes, and control groups of either version with the rules that the backends rely on.
// Threads: one.
#pragma once

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "orb/os/machine/core_list.h"
#include "services/reserved/accounts/core_sets.h"
#include "services/reserved/backends/backend.h"

namespace corelane::testing {

// Raised where the daemon is killed.
struct Killed {};

// Counts changes of the host, and kills the daemon that makes one of them: before the change, or right after it.
class Fate {
 public:
  void kill_at(int change, bool before) {
    left_ = change;
    before_ = before;
  }
  void spare() { left_ = 0; }
  template <typename Change>
  int meet(const Change& change) {
    const bool dies = left_ > 0 && --left_ == 0;
    if (dies && before_) throw Killed{};
    const int result = change();
    if (dies) throw Killed{};
    return result;
  }

 private:
  int left_ = 0;
  bool before_ = false;
};

class FakeProcesses final : public reserved::ProcessTable {
 public:
  struct Entry {
    int parent = 0;
    std::uint64_t started = 0;
    bool bound = false;        // the kernel binds it to its core
    bool zombie = false;       // it has ended, and its parent has not waited for it
    bool ending = false;       // it releases its memory: no list contains it, and its groups stay busy
    int refuses_affinity = 0;  // an errno, as for another program's cpuset or under SCHED_DEADLINE
    std::string name{};
    Duration used{};
    os::SchedulingClass scheduling{};
    std::optional<CoreId> last_core{};
    std::vector<CoreId> affinity{};
    std::map<std::string, std::string> groups{};  // group in each hierarchy
  };

  explicit FakeProcesses(std::vector<CoreId> cores) : cores_(std::move(cores)) {}

  // A child inherits what its parent has.
  int fork_from(int parent) {
    Entry child;
    if (const auto found = entries.find(parent); found != entries.end()) child = found->second;
    if (child.affinity.empty()) child.affinity = cores_;
    child.parent = parent;
    child.started = ++clock_;
    child.scheduling = {};
    entries[++next_] = child;
    return next_;
  }
  // Forks another process with the same pid.
  void fork_again(int pid, int parent) {
    const int child = fork_from(parent);
    entries[pid] = entries.at(child);
    entries.erase(child);
  }
  void kill(int pid) {
    entries.erase(pid);
    for (auto& [id, entry] : entries)
      if (entry.parent == pid) entry.parent = 0;
  }

  std::vector<int> all() const override {
    std::vector<int> pids;
    if (unreadable) return pids;
    for (const auto& [pid, entry] : entries) pids.push_back(pid);
    return pids;
  }
  std::vector<int> threads_of(int pid) const override {
    return entries.contains(pid) && !unreadable ? std::vector<int>{pid} : std::vector<int>{};
  }
  std::multimap<int, int> children() const override {
    ++passes;
    std::multimap<int, int> children;
    if (unreadable) return children;
    for (const auto& [pid, entry] : entries) children.emplace(entry.parent, pid);
    return children;
  }
  int parent_of(int pid) const override { return entries.contains(pid) ? entries.at(pid).parent : 0; }
  std::optional<reserved::Process> identity(int id) const override {
    ++identities;
    const auto found = entries.find(id);
    if (found == entries.end() || unreadable) return std::nullopt;
    return reserved::Process{.pid = id, .start_ticks = found->second.started};
  }
  bool exists(int id) const override { return entries.contains(id); }
  std::string name_of(int pid) const override { return entries.contains(pid) ? entries.at(pid).name : ""; }
  bool is_running(const reserved::Process& process) const override {
    const auto found = entries.find(process.pid);
    if (found == entries.end() || found->second.zombie || found->second.ending) return false;
    return found->second.started == process.start_ticks;
  }
  std::optional<std::string> group_of(int id, const std::string& controller) const override {
    const auto found = entries.find(id);
    if (found == entries.end() || unreadable) return std::nullopt;
    const auto group = found->second.groups.find(controller);
    return group == found->second.groups.end() ? "" : group->second;
  }
  std::optional<std::vector<CoreId>> affinity(int thread) const override {
    const auto found = entries.find(thread);
    return found == entries.end() ? std::nullopt
                                  : std::optional(reserved::without(found->second.affinity, switched_off));
  }
  std::optional<std::vector<CoreId>> mask_of(int thread) const override {
    const auto found = entries.find(thread);
    return found == entries.end() ? std::nullopt : std::optional(found->second.affinity);
  }
  bool is_fixed(int thread) const override { return entries.contains(thread) && entries.at(thread).bound; }
  std::optional<CoreId> last_core(int thread) const override {
    return entries.contains(thread) ? entries.at(thread).last_core : std::nullopt;
  }
  int set_affinity(int thread, const std::vector<CoreId>& cores) override {
    const auto found = entries.find(thread);
    if (found == entries.end()) return ESRCH;
    if (found->second.bound) return EINVAL;
    if (found->second.refuses_affinity != 0) return found->second.refuses_affinity;
    const auto possible = reserved::without(cores, switched_off);
    if (possible.empty()) return EINVAL;
    return fate.meet([&] { return given[thread].push_back(cores), found->second.affinity = possible, 0; });
  }
  int set_deadline(int thread, Duration, Duration) override {
    if (!entries.contains(thread)) return ESRCH;
    if (refuses_deadline) return EPERM;
    return fate.meet([&] { return entries[thread].scheduling = {.policy = corelane::os::deadline_class}, 0; });
  }
  std::optional<os::SchedulingClass> scheduling(int thread) const override {
    return entries.contains(thread) ? std::optional(entries.at(thread).scheduling) : std::nullopt;
  }
  int set_scheduling(int thread, const os::SchedulingClass& wanted) override {
    if (!entries.contains(thread)) return ESRCH;
    if (refuses_classes) return EPERM;
    return fate.meet([&] { return entries[thread].scheduling = wanted, 0; });
  }
  Duration used_by(int pid) const override { return entries.contains(pid) ? entries.at(pid).used : Duration{}; }

  std::map<int, Entry> entries;
  std::map<int, std::vector<std::vector<CoreId>>> given;  // masks by thread, in order
  Fate fate;                                              // also counts changes of the control groups
  std::vector<CoreId> switched_off;
  bool refuses_deadline = false;
  bool refuses_classes = false;  // set_scheduling() refuses everything
  bool unreadable = false;       // no descriptors are left: neither processes nor control groups can be read
  mutable int passes = 0;        // how often all processes and their parents were read
  mutable int identities = 0;    // how many identities were read

 private:
  const std::vector<CoreId> cores_;
  int next_ = 100;
  std::uint64_t clock_ = 0;
};

// One hierarchy: "cpuset" or "cpu" of version 1, or "" (as in /proc) of version 2.
class FakeGroups final : public reserved::GroupFiles {
 public:
  FakeGroups(std::string controller, FakeProcesses& processes, const std::string& cores)
      : controller_(std::move(controller)), processes_(processes) {
    make_now("");
    files_["cpuset.cpus"] = cores;
    files_["cpuset.mems"] = "0";
    files_["cpuset.cpu_exclusive"] = "1";
    files_["cpuset.sched_load_balance"] = "1";
    files_["cgroup.controllers"] = "cpuset cpu io memory";
    all_ = cores;
  }

  std::optional<std::string> read(const std::string& file) const override {
    if (processes_.unreadable) return std::nullopt;
    const auto [group, name] = parted(file);
    if (name == "tasks" || name == "cgroup.procs")
      return groups_.contains(group) ? std::optional(members(group)) : std::nullopt;
    const auto found = files_.find(file);
    return found == files_.end() ? std::nullopt : std::optional(found->second);
  }
  int write(const std::string& file, const std::string& text) override {
    return processes_.fate.meet([&] { return write_now(file, text); });
  }
  int make(const std::string& group) override {
    return processes_.fate.meet([&] { return make_now(group); });
  }
  int remove(const std::string& group) override {
    return processes_.fate.meet([&] { return remove_now(group); });
  }
  bool has(const std::string& path) const override {
    const auto [group, name] = parted(path);
    const bool is_list = name == "tasks" || name == "cgroup.procs";
    return groups_.contains(path) || files_.contains(path) || (is_list && groups_.contains(group));
  }
  std::vector<std::string> children(const std::string& group) const override {
    std::vector<std::string> names;
    if (processes_.unreadable) return names;
    for (const std::string& other : groups_)
      if (!other.empty() && parted(other).first == group) names.push_back(parted(other).second);
    return names;
  }
  std::string absolute(const std::string& path) const override { return "/fake/" + controller_ + "/" + path; }

  // Returns the cores that the kernel leaves to groups outside of partitions.
  std::string left_to_others() const {
    auto left = os::parse_core_list(all_).value();
    for (const std::string& group : groups_)
      if (files_.at(reserved::joined_path(group, "cpuset.cpus.partition")) == "root" && !group.empty())
        left = reserved::without(left, cores_of(group));
    return os::core_list_text(left);
  }

  // In version 1 the kernel removes the core from all groups for good. Processes of a group without cores then use the
  // root's cores.
  void switch_off(CoreId core) {
    for (const std::string& group : groups_) {
      std::string& list = files_.at(reserved::joined_path(group, "cpuset.cpus"));
      list = os::core_list_text(reserved::without(cores_of(group), {core}));
      for (auto& [pid, entry] : processes_.entries)
        if (list.empty() && processes_.group_of(pid, controller_) == group) entry.groups[controller_] = "";
    }
    for (const std::string& group : groups_) spread(group);
  }
  void switch_on(CoreId core) {
    files_["cpuset.cpus"] = os::core_list_text(reserved::joined(cores_of(""), {core}));
    spread("");
  }

  std::set<std::string> refused;  // files that cannot be written: of one group, or by name in all groups

 private:
  int write_now(const std::string& file, const std::string& text) {
    const auto [group, name] = parted(file);
    if (!groups_.contains(group)) return ENOENT;
    if (refused.contains(name) || refused.contains(file)) return EACCES;
    if (name == "tasks" || name == "cgroup.procs") return attach(group, std::stoi(text));
    if (name == "cgroup.subtree_control") return control(file, text);
    if (name == "cpuset.cpus.partition") return partition(group, file, text);
    if (!files_.contains(file) || !is_switched_on(group, name)) return ENOENT;
    if (name == "cpuset.cpus" && is_v1() && (overlaps(group, text) || exceeds_root(group, text))) return EINVAL;
    const std::string was = std::exchange(files_[file], text);
    if (name == "cpuset.cpu_exclusive" && overlaps(group, files_.at(reserved::joined_path(group, "cpuset.cpus")))) {
      files_[file] = was;
      return EINVAL;
    }
    if (name == "cpuset.cpus" && is_v1()) spread(group);
    return 0;
  }
  int make_now(const std::string& group) {
    if (!groups_.insert(group).second) return 0;
    for (const char* name :
         {"cpuset.cpus", "cpuset.mems", "cpu.cfs_quota_us", "cpu.cfs_period_us", "cpu.max", "cgroup.subtree_control",
          "memory.min", "io.weight", "io.bfq.weight", "memory.soft_limit_in_bytes", "blkio.bfq.weight"})
      files_[reserved::joined_path(group, name)] = "";
    files_[reserved::joined_path(group, "cgroup.controllers")] = "cpuset cpu io memory";
    files_[reserved::joined_path(group, "cpuset.cpu_exclusive")] = "0";
    files_[reserved::joined_path(group, "cpuset.cpus.partition")] = "member";
    return 0;
  }
  int remove_now(const std::string& group) {
    if (!groups_.contains(group)) return 0;
    if (!members(group).empty() || !children(group).empty() || has_ending(group)) return EBUSY;
    groups_.erase(group);
    std::erase_if(files_, [&](const auto& file) { return parted(file.first).first == group; });
    return 0;
  }
  // In version 2 a group has files of memory and disk only if its parent has switched the controller on.
  bool is_switched_on(const std::string& group, const std::string& name) const {
    const std::string controller = name.substr(0, name.find('.'));
    if (is_v1() || (controller != "memory" && controller != "io") || group.empty()) return true;
    const std::string on = files_.at(reserved::joined_path(parted(group).first, "cgroup.subtree_control"));
    return (" " + on + " ").find(" " + controller + " ") != std::string::npos;
  }
  bool has_ending(const std::string& group) const {
    return std::ranges::any_of(processes_.entries, [&](const auto& item) {
      return item.second.ending && processes_.group_of(item.first, controller_) == group;
    });
  }
  bool is_v1() const { return !controller_.empty(); }
  static std::pair<std::string, std::string> parted(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return {"", path};
    return {path.substr(0, slash), path.substr(slash + 1)};
  }
  std::vector<CoreId> cores_of(const std::string& group) const {
    return os::parse_core_list(files_.at(reserved::joined_path(group, "cpuset.cpus"))).value();
  }
  std::string members(const std::string& group) const {
    std::string text;
    for (const auto& [pid, entry] : processes_.entries)
      if (!entry.zombie && !entry.ending && processes_.group_of(pid, controller_) == group)
        text += std::to_string(pid) + "\n";
    return text;
  }
  int attach(const std::string& group, int pid) {
    const auto found = processes_.entries.find(pid);
    if (found == processes_.entries.end()) return ESRCH;
    if (found->second.bound) return EINVAL;
    if (controller_ == "cpuset" && cores_of(group).empty()) return ENOSPC;
    if (!is_v1() && !group.empty() && !files_.at(reserved::joined_path(group, "cgroup.subtree_control")).empty())
      return EBUSY;  // a group with child controllers must have no processes
    found->second.groups[controller_] = group;
    if (controller_ == "cpuset") found->second.affinity = cores_of(group);
    return 0;
  }
  void spread(const std::string& group) {
    for (auto& [pid, entry] : processes_.entries)
      if (!entry.bound && processes_.group_of(pid, controller_) == group) entry.affinity = cores_of(group);
  }
  bool exceeds_root(const std::string& group, const std::string& list) const {
    return !group.empty() && !reserved::without(os::parse_core_list(list).value(), cores_of("")).empty();
  }
  // Two sibling groups of which one is exclusive must have no core in common.
  bool overlaps(const std::string& group, const std::string& list) const {
    const auto wanted = os::parse_core_list(list).value();
    for (const std::string& other : groups_) {
      if (other == group || other.empty() || group.empty() || parted(other).first != parted(group).first) continue;
      if (read(reserved::joined_path(other, "cpuset.cpu_exclusive")) != "1" &&
          read(reserved::joined_path(group, "cpuset.cpu_exclusive")) != "1")
        continue;
      if (!reserved::common_to(cores_of(other), wanted).empty()) return true;
    }
    return false;
  }
  int control(const std::string& file, const std::string& text) {
    std::string& list = files_[file];
    const std::string word = text.substr(1) + " ";
    const std::size_t at = (" " + list).find(" " + word);
    if (text[0] == '+' && at == std::string::npos) list += word;
    if (text[0] == '-' && at != std::string::npos) list.erase(at, word.size());
    return 0;
  }
  int partition(const std::string& group, const std::string& file, const std::string& text) {
    files_[file] = text;
    if (text != "root") return 0;
    for (const std::string& other : groups_)
      if (other != group && !other.empty() &&
          files_.at(reserved::joined_path(other, "cpuset.cpus.partition")) == "root" &&
          !reserved::common_to(cores_of(other), cores_of(group)).empty())
        files_[file] = "root invalid (Cpu list in cpuset.cpus not exclusive)";
    return 0;
  }

  const std::string controller_;
  FakeProcesses& processes_;
  std::string all_;
  std::set<std::string> groups_;
  std::map<std::string, std::string> files_;
};

}  // namespace corelane::testing
