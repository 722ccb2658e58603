// More parts of a fake kernel: resctrl with its rules, the schedulers of disks, and files that are only read.
// Threads: one.
#pragma once

#include <bit>
#include <cerrno>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "services/reserved/backends/resources/cache_ways.h"
#include "tests/services/reserved/fake_host.h"

namespace corelane::testing {

// Two caches of eight ways. Devices fill the highest way, too.
class FakeResctrl final : public reserved::GroupFiles {
 public:
  explicit FakeResctrl(FakeProcesses& processes) : processes_(processes) {
    groups_["info"] = {};
    groups_[""] = {.masks = {{0, all}, {1, all}}};
  }

  std::optional<std::string> read(const std::string& file) const override {
    static const std::map<std::string, std::string> info{
        {"info/L3/cbm_mask", "ff"}, {"info/L3/shareable_bits", "80"}, {"info/L3/min_cbm_bits", "1"}};
    if (const auto found = info.find(file); found != info.end()) return found->second;
    const auto [group, name] = parted(file);
    const auto found = groups_.find(group);
    if (found == groups_.end()) return std::nullopt;
    if (name == "schemata") return "    " + reserved::schemata_text(found->second.masks) + "\n    MB:0=100;1=100";
    if (name == "mode") return found->second.exclusive ? "exclusive" : "shareable";
    if (name == "tasks") return tasks(group);
    return std::nullopt;
  }
  int write(const std::string& file, const std::string& text) override {
    return processes_.fate.meet([&] { return write_now(file, text); });
  }
  int make(const std::string& group) override {
    return processes_.fate.meet([&] {
      if (groups_.size() > most_groups) return ENOSPC;
      groups_.try_emplace(group, Group{.masks = groups_.at("").masks});
      return 0;
    });
  }
  // The kernel moves the group's processes to the root's group.
  int remove(const std::string& group) override {
    return processes_.fate.meet([&] {
      if (refused.contains(group)) return EBUSY;
      groups_.erase(group);
      for (auto& [pid, entry] : processes_.entries)
        if (processes_.group_of(pid, "resctrl") == group) entry.groups["resctrl"] = "";
      return 0;
    });
  }
  bool has(const std::string& path) const override { return groups_.contains(path); }
  std::vector<std::string> children(const std::string& group) const override {
    std::vector<std::string> names;
    if (group.empty())
      for (const auto& [name, one] : groups_)
        if (!name.empty()) names.push_back(name);
    return names;
  }
  std::string absolute(const std::string& path) const override { return "/fake/resctrl/" + path; }

  static constexpr reserved::WayMask all = 0xff;
  std::size_t most_groups = 16;
  std::set<std::string> refused;  // files that cannot be written, and groups that cannot be removed

 private:
  struct Group {
    std::map<int, reserved::WayMask> masks{};
    bool exclusive = false;
  };
  static std::pair<std::string, std::string> parted(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return {"", path};
    return {path.substr(0, slash), path.substr(slash + 1)};
  }
  std::string tasks(const std::string& group) const {
    std::string text;
    for (const auto& [pid, entry] : processes_.entries)
      if (processes_.group_of(pid, "resctrl") == group) text += std::to_string(pid) + "\n";
    return text;
  }
  // Returns whether another group has some of these ways while one of the two groups is exclusive.
  bool overlaps(const std::string& group, const Group& wanted) const {
    for (const auto& [name, other] : groups_)
      for (const auto& [cache, mask] : other.masks)
        if (name != group && (other.exclusive || wanted.exclusive) && (mask & wanted.masks.at(cache)) != 0) return true;
    return false;
  }
  int write_now(const std::string& file, const std::string& text) {
    const auto [group, name] = parted(file);
    const auto found = groups_.find(group);
    if (found == groups_.end()) return ENOENT;
    if (refused.contains(file)) return EACCES;
    if (name == "tasks") {
      const auto process = processes_.entries.find(std::stoi(text));
      return process == processes_.entries.end() ? ESRCH : (process->second.groups["resctrl"] = group, 0);
    }
    Group wanted = found->second;
    if (name == "mode") wanted.exclusive = text == "exclusive";
    if (name == "schemata") wanted.masks = reserved::parse_schemata(text);
    for (const auto& [cache, mask] : wanted.masks)
      if (mask == 0 || reserved::longest_run(mask) != mask || wanted.masks.size() != 2) return EINVAL;
    if (overlaps(group, wanted)) return EINVAL;
    found->second = wanted;
    return 0;
  }

  FakeProcesses& processes_;
  std::map<std::string, Group> groups_;
};

// Disks by name, and the scheduler of each.
class FakeDisks final : public reserved::GroupFiles {
 public:
  std::optional<std::string> read(const std::string& file) const override {
    const auto found = schedulers.find(file.substr(0, file.find('/')));
    return found == schedulers.end() ? std::nullopt : std::optional(found->second);
  }
  int write(const std::string&, const std::string&) override { return EACCES; }
  int make(const std::string&) override { return EACCES; }
  int remove(const std::string&) override { return EACCES; }
  bool has(const std::string& path) const override { return schedulers.contains(path); }
  std::vector<std::string> children(const std::string&) const override {
    std::vector<std::string> names;
    for (const auto& [name, scheduler] : schedulers) names.push_back(name);
    return names;
  }
  std::string absolute(const std::string& path) const override { return "/fake/block/" + path; }

  std::map<std::string, std::string> schedulers{{"loop0", "[none] bfq"}, {"sda", "none [bfq]"}};
};

}  // namespace corelane::testing
