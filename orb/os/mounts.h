// What is mounted where, as /proc/PID/mountinfo tells (proc(5)), and which mount of a hierarchy of control groups is
// meant.
// Threads: any but real-time ones; read_mounts() reads a file, the others are pure. Allocates.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace corelane::os {

struct Mount {
  std::string root{};     // what of the file system is mounted: "/" for all of it
  std::string point{};    // where
  std::string type{};     // "cgroup2"
  std::string options{};  // of the file system: "rw,cpuset"
};

// In the order of their mounting. Lines that are none of mountinfo's are left out.
std::vector<Mount> parse_mounts(std::string_view mountinfo);
// The same of a file; none where it cannot be read.
std::vector<Mount> read_mounts(const std::string& mountinfo = "/proc/self/mountinfo");

// Where the hierarchy with v1's controller is mounted, or v2's for "". A chroot or a container on this host may have it
// mounted once more at a place of its own, which goes when that ends: so it is the one at or below /sys/fs/cgroup, else
// the one with the shortest path; the first of several.
std::optional<Mount> cgroup_mount(const std::vector<Mount>& mounts, std::string_view controller);

// Where a group ("/a/b", as /proc/PID/cgroup names it) stands below the mount.
std::string folder_of_group(const Mount& mount, const std::string& group);

// Whether "cpu,cpuacct" has the word.
bool has_word(std::string_view list, std::string_view word, char between = ',');

}  // namespace corelane::os
