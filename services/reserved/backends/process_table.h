// ProcessTable: the processes of the host and their threads; and a seam, so that tests bring their own.
// Threads: one at a time.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "orb/os/scheduling_class.h"
#include "services/reserved/accounts/model.h"

namespace corelane::reserved {

class ProcessTable {
 public:
  virtual ~ProcessTable() = default;

  virtual std::vector<int> all() const = 0;
  virtual std::vector<int> threads_of(int pid) const = 0;
  // Of everybody, by parent. One pass over all processes.
  virtual std::multimap<int, int> children() const = 0;
  // 0: it has none, or is gone.
  virtual int parent_of(int pid) const = 0;
  // The process and all that it started and that live, the process first.
  std::vector<int> tree_of(int pid) const { return tree_in(children(), pid); }
  // The holder's process, or all of its tree.
  std::vector<int> members_of(const Holder& holder) const;
  static std::vector<int> tree_in(const std::multimap<int, int>& children, int pid);
  // Of a process or a thread. Nothing when it is gone, or cannot be looked at for want of a descriptor.
  virtual std::optional<Process> identity(int id) const = 0;
  // Whether anything has that number; told without a descriptor.
  virtual bool exists(int id) const = 0;
  // Of its program, as the kernel cuts it off; "" when gone.
  virtual std::string name_of(int pid) const = 0;
  // Whether that very process runs: one that nobody has waited for yet has ended.
  virtual bool is_running(const Process& process) const = 0;
  // Path of its control group in the hierarchy of the controller; "" controller: the unified one. Nothing when gone.
  virtual std::optional<std::string> group_of(int id, const std::string& controller) const = 0;
  // Of one thread, without cores that are switched off.
  virtual std::optional<std::vector<CoreId>> affinity(int thread) const = 0;
  // The same with them: it runs there when they are switched on again.
  virtual std::optional<std::vector<CoreId>> mask_of(int thread) const = 0;
  // Whether the kernel binds it to its cores for good.
  virtual bool is_fixed(int thread) const = 0;
  // Where it ran last. Nothing when gone.
  virtual std::optional<CoreId> last_core(int thread) const = 0;
  // Results are 0 or an errno.
  virtual int set_affinity(int thread, const std::vector<CoreId>& cores) = 0;
  virtual int set_deadline(int thread, Duration budget, Duration period) = 0;
  virtual std::optional<os::SchedulingClass> scheduling(int thread) const = 0;
  virtual int set_scheduling(int thread, const os::SchedulingClass& wanted) = 0;
  // CPU time that it has used since it began; zero when it is gone.
  virtual Duration used_by(int pid) const = 0;
};

class HostProcesses final : public ProcessTable {
 public:
  // all() is this process and those that it started, or everybody where it is 0.
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
  mutable Time looked_at_{};  // those
};

// Of the processors' folder: "present", "online". Nothing where the kernel does not tell.
std::optional<std::vector<CoreId>> cores_listed(const std::string& file);

// Whether that very process or thread is there. One that cannot be looked at now is.
bool is_same(const ProcessTable& table, const Process& process);
// Services that work in a client's set, by pid.
using Guests = std::map<int, Process>;
std::vector<int> without_guests(const ProcessTable& table, std::vector<int> pids, const Guests& guests);
void forget_guest(Guests& guests, const Process& service);

// The holder's process while that thread of it is there.
std::vector<int> process_of_thread(const ProcessTable& table, const Holder& holder, const Process& thread);

}  // namespace corelane::reserved
