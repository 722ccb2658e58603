// GroupFiles gives access to one hierarchy of control groups, as the files that the kernel shows. Tests implement this
// interface with a simulated kernel.
// Threads: one at a time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "orb/base/expected.h"

namespace corelane::reserved {

// Paths are relative to the hierarchy's mount point: "" is its root, "corelane-r17/tasks" is a file. Int results are 0
// or an errno.
class GroupFiles {
 public:
  virtual ~GroupFiles() = default;

  // Returns the file's text without the newline at its end; nothing if the file cannot be read.
  virtual std::optional<std::string> read(const std::string& file) const = 0;
  virtual int write(const std::string& file, const std::string& text) = 0;
  virtual int make(const std::string& group) = 0;
  virtual int remove(const std::string& group) = 0;
  virtual bool has(const std::string& path) const = 0;
  virtual std::vector<std::string> children(const std::string& group) const = 0;  // names
  virtual std::string absolute(const std::string& path) const = 0;                // for messages
};

class MountedGroups final : public GroupFiles {
 public:
  explicit MountedGroups(std::string mount) : mount_(std::move(mount)) {}

  std::optional<std::string> read(const std::string& file) const override;
  int write(const std::string& file, const std::string& text) override;
  int make(const std::string& group) override;
  int remove(const std::string& group) override;
  bool has(const std::string& path) const override;
  std::vector<std::string> children(const std::string& group) const override;
  std::string absolute(const std::string& path) const override;

 private:
  const std::string mount_;
};

// Joins two paths: "a/b"; "b" if `a` is the root.
std::string joined_path(const std::string& a, const std::string& b);
// Returns the numbers in a file such as cgroup.procs; none if it cannot be read. 0 stands for a process that another
// PID namespace hides.
std::vector<int> numbers_of(const GroupFiles& groups, const std::string& file);

// Returns the numbers for a group and all groups below it, since a holder may have made some. Returns nothing if a list
// cannot be read although its group exists.
std::optional<std::vector<int>> numbers_below(const GroupFiles& groups, const std::string& group,
                                              const std::string& list);

// Writes like GroupFiles::write(). The error is a text for people.
Expected<void, std::string> put(GroupFiles& groups, const std::string& file, const std::string& text);

// Moves every process or thread in from/`list` ("tasks", "cgroup.procs") to `to`. Repeats until no new one appears.
// Bound: 100 rounds.
struct Moved {
  unsigned moved = 0;
  unsigned unmovable = 0;  // EINVAL: the kernel binds them to their cores
  int fault = 0;           // the latest other errno
};
Moved move_all(GroupFiles& groups, const std::string& from, const std::string& to, const std::string& list);

// How often the removal of a busy group is tried again, each time one millisecond later.
inline constexpr int removal_patience = 100;

// Removes the group and the groups that a holder made below it. Moves their members to `to`. A process that is ending
// cannot be moved and keeps its group busy until it has ended. The function waits for it while `patience` lasts, and
// reduces `patience` by the rounds waited. Returns 0 or an errno: EBUSY if that was not enough.
int remove_emptied(GroupFiles& groups, const std::string& group, const std::string& to, const std::string& list,
                   int& patience);

// Mount points of the kernel's hierarchies; "" if not mounted.
struct Mounts {
  std::string v1_cpuset{}, v1_cpu{};
  std::string v2{};
  bool v2_cpuset = false;  // v2 has the cpuset controller
  std::string v1_memory{}, v1_blkio{}, resctrl{};
};
Mounts find_mounts(const std::string& mountinfo = "/proc/self/mountinfo");

// Formats an errno for messages: "Permission denied (EACCES)".
std::string errno_text(int number);

}  // namespace corelane::reserved
