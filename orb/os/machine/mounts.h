// Reads the mounts from /proc/PID/mountinfo (proc(5)), and finds the mount of a control-group hierarchy.
// Threads: any but real-time ones. read_mounts() reads a file; the other functions are pure. Allocates.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace corelane::os {

struct Mount {
  std::string root{};     // the mounted part of the file system: "/" for all of it
  std::string point{};    // the mount point
  std::string type{};     // "cgroup2"
  std::string options{};  // options of the file system: "rw,cpuset"
};

// Returns the mounts in the order in which they were mounted. Skips lines that are not in mountinfo's format.
std::vector<Mount> parse_mounts(std::string_view mountinfo);
// Parses a file; returns no mounts if it cannot be read.
std::vector<Mount> read_mounts(const std::string& mountinfo = "/proc/self/mountinfo");

// Returns the mount of the hierarchy with a v1 controller, or of v2 for "". A chroot or a container on this host may
// have mounted the hierarchy again, and that mount goes away with it. So the choice is the mount at or below
// /sys/fs/cgroup, else the one with the shortest path. Among equals it is the first.
std::optional<Mount> cgroup_mount(const std::vector<Mount>& mounts, std::string_view controller);

// Returns the folder of a group below the mount. `group` is as in /proc/PID/cgroup: "/a/b".
std::string folder_of_group(const Mount& mount, const std::string& group);

// Returns whether a list such as "cpu,cpuacct" contains the word.
bool has_word(std::string_view list, std::string_view word, char between = ',');

}  // namespace corelane::os
