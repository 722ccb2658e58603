// GroupFiles: one hierarchy of control groups, as the files that the kernel shows; and a seam, so that tests bring a
// kernel of their own.
// Threads: one at a time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "orb/base/expected.h"

namespace corelane::reserved {

// Paths are relative to the hierarchy's mount: "" is its root, "corelane-r17/tasks" a file. Results are 0 or an errno.
class GroupFiles {
 public:
  virtual ~GroupFiles() = default;

  // Without the newline at its end; nothing where it cannot be read.
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

// "a/b", "b" where a is the root.
std::string joined_path(const std::string& a, const std::string& b);
// The numbers of a file such as cgroup.procs; none where it cannot be read. 0 stands for what another namespace hides.
std::vector<int> numbers_of(const GroupFiles& groups, const std::string& file);

// The same of a group and of those below it: a holder may have made some. Nothing where one of the lists cannot be read
// though its group is there.
std::optional<std::vector<int>> numbers_below(const GroupFiles& groups, const std::string& group,
                                              const std::string& list);

// As GroupFiles::write(); the fault is for people.
Expected<void, std::string> put(GroupFiles& groups, const std::string& file, const std::string& text);

// Moves all that is named in from/`list` ("tasks", "cgroup.procs") to `to`, again and again until nobody new has come.
struct Moved {
  unsigned moved = 0;
  unsigned unmovable = 0;  // bound to their cores by the kernel: EINVAL
  int fault = 0;           // of another kind, the latest
};
Moved move_all(GroupFiles& groups, const std::string& from, const std::string& to, const std::string& list);

// How often a group that is busy is tried again, a millisecond later each time.
inline constexpr int removal_patience = 100;

// Removes the group and what a holder made below it; who is there goes to `to`. A process that is ending cannot be
// moved and keeps its group busy until it has ended: it is waited for as long as `patience` lasts, which is used up. 0
// or an errno: EBUSY where it takes longer.
int remove_emptied(GroupFiles& groups, const std::string& group, const std::string& to, const std::string& list,
                   int& patience);

// Where the kernel's hierarchies are mounted; "" for none.
struct Mounts {
  std::string v1_cpuset{}, v1_cpu{};
  std::string v2{};
  bool v2_cpuset = false;  // v2 has the controller
  std::string v1_memory{}, v1_blkio{}, resctrl{};
};
Mounts find_mounts(const std::string& mountinfo = "/proc/self/mountinfo");

// "Permission denied (EACCES 13)": for messages.
std::string errno_text(int number);

}  // namespace corelane::reserved
