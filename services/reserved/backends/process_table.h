// ProcessTable describes the processes of the host and their threads. Tests implement this interface with simulated
// ones.
// Threads: one at a time.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "orb/os/threads/scheduling_class.h"
#include "services/reserved/accounts/model.h"

namespace corelane::reserved {

class ProcessTable {
 public:
  virtual ~ProcessTable() = default;

  virtual std::vector<int> all() const = 0;
  virtual std::vector<int> threads_of(int pid) const = 0;
  // Returns all processes, by parent. Makes one pass over all processes.
  virtual std::multimap<int, int> children() const = 0;
  // Returns the parent's pid; 0 if the process has none or is gone.
  virtual int parent_of(int pid) const = 0;
  // Returns the process and its living descendants, the process first.
  std::vector<int> tree_of(int pid) const { return tree_in(children(), pid); }
  // Returns the holder's process, or its whole tree.
  std::vector<int> members_of(const Holder& holder) const;
  static std::vector<int> tree_in(const std::multimap<int, int>& children, int pid);
  // Returns the identity of a process or a thread. Returns nothing if it is gone, or cannot be read for lack of a file
  // descriptor.
  virtual std::optional<Process> identity(int id) const = 0;
  // Returns whether a process or thread has that number. Needs no file descriptor.
  virtual bool exists(int id) const = 0;
  // Returns the name of the process's program, as the kernel truncates it; "" if the process is gone.
  virtual std::string name_of(int pid) const = 0;
  // Returns whether exactly this process runs. A zombie has ended.
  virtual bool is_running(const Process& process) const = 0;
  // Returns the path of its control group in the controller's hierarchy. `controller` "" means the unified hierarchy.
  // Returns nothing if the process is gone.
  virtual std::optional<std::string> group_of(int id, const std::string& controller) const = 0;
  // Returns the affinity of one thread, without cores that are switched off.
  virtual std::optional<std::vector<CoreId>> affinity(int thread) const = 0;
  // Returns the affinity including switched-off cores, on which the thread runs when they are switched on again.
  virtual std::optional<std::vector<CoreId>> mask_of(int thread) const = 0;
  // Returns whether the kernel binds the thread to its cores permanently.
  virtual bool is_fixed(int thread) const = 0;
  // Returns the core on which the thread last ran; nothing if it is gone.
  virtual std::optional<CoreId> last_core(int thread) const = 0;
  // These functions return 0 or an errno.
  virtual int set_affinity(int thread, const std::vector<CoreId>& cores) = 0;
  virtual int set_deadline(int thread, Duration budget, Duration period) = 0;
  virtual std::optional<os::SchedulingClass> scheduling(int thread) const = 0;
  virtual int set_scheduling(int thread, const os::SchedulingClass& wanted) = 0;
  // Returns the execution time of the process since its start; zero if it is gone.
  virtual Duration used_by(int pid) const = 0;
};

class HostProcesses final : public ProcessTable {
 public:
  // all() is the process `root` and its descendants, or all processes if `root` is 0.
  explicit HostProcesses(int root = 0) : root_(root) {}

  std::vector<int> all() const override;
  std::vector<int> threads_of(int pid) const override;
  std::multimap<int, int> children() const override;
  int parent_of(int pid) const override;
  std::optional<Process> identity(int id) const override;
  bool exists(int id) const override;
  std::string name_of(int pid) const override;
  bool is_running(const Process& process) const override;
  std::optional<std::string> group_of(int id, const std::string& controller) const override;
  std::optional<std::vector<CoreId>> affinity(int thread) const override;
  std::optional<std::vector<CoreId>> mask_of(int thread) const override;
  bool is_fixed(int thread) const override;
  std::optional<CoreId> last_core(int thread) const override;
  int set_affinity(int thread, const std::vector<CoreId>& cores) override;
  int set_deadline(int thread, Duration budget, Duration period) override;
  std::optional<os::SchedulingClass> scheduling(int thread) const override;
  int set_scheduling(int thread, const os::SchedulingClass& wanted) override;
  Duration used_by(int pid) const override;

 private:
  const std::vector<CoreId>& switched_off() const;

  const int root_;
  mutable std::vector<CoreId> switched_off_{};
  mutable Time looked_at_{};  // when switched_off_ was read
};

// Reads a file of /sys/devices/system/cpu, such as "present" or "online". Returns nothing if the kernel has no such
// file.
std::optional<std::vector<CoreId>> cores_listed(const std::string& file);

// Returns whether exactly this process or thread exists. One that cannot be read now counts as existing.
bool is_same(const ProcessTable& table, const Process& process);
// Services that work on a client's cores, by pid.
using Guests = std::map<int, Process>;
std::vector<int> without_guests(const ProcessTable& table, std::vector<int> pids, const Guests& guests);
void forget_guest(Guests& guests, const Process& service);

// Returns the holder's process as long as that thread of it exists.
std::vector<int> process_of_thread(const ProcessTable& table, const Holder& holder, const Process& thread);

}  // namespace corelane::reserved
