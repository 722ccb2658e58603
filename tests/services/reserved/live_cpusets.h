// A cpuset (v1) of the test on two cores, with processes in it. The destructor removes all of it. The next test removes
// what a crashed test left.
// Threads: one.
#pragma once

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "orb/os/machine/core_list.h"
#include "services/reserved/backends/backend.h"

namespace corelane::testing {

// A process that does nothing until it is killed.
class Sleeper {
 public:
  Sleeper() : pid_(fork()) {
    if (pid_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) pause();
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  ~Sleeper() { kill_now(); }

  void kill_now() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  int pid() const { return pid_; }
  reserved::Process process() const { return os::identity_of(pid_).value(); }

 private:
  pid_t pid_;
};

class LiveCpusets {
 public:
  LiveCpusets()
      : mounts_(reserved::find_mounts()),
        cpuset(mounts_.v1_cpuset),
        cpu(mounts_.v1_cpu),
        root("corelane-test-" + std::to_string(getpid())) {
    const auto usable = reserved::HostProcesses().affinity(0).value_or(std::vector<CoreId>{});
    if (mounts_.v1_cpuset.empty() || mounts_.v1_cpu.empty() || usable.size() < 2) return;
    remove_stale();
    cores = {usable[0], usable[1]};
    usable_ = cpuset.make(root) == 0 && cpu.make(root) == 0 &&
              cpuset.write(root + "/cpuset.cpus", os::core_list_text(cores)) == 0 &&
              cpuset.write(root + "/cpuset.mems", cpuset.read("cpuset.mems").value_or("0")) == 0;
  }
  LiveCpusets(const LiveCpusets&) = delete;
  LiveCpusets& operator=(const LiveCpusets&) = delete;
  ~LiveCpusets() {
    if (mounts_.v1_cpuset.empty() || mounts_.v1_cpu.empty()) return;
    remove_tree(cpuset, root);
    remove_tree(cpu, root);
  }

  // Returns why nothing can be tested here; empty if it can.
  std::string missing() const {
    return usable_ ? "" : "needs root, two cores, and the controllers cpuset and cpu of cgroup v1";
  }
  void bring_in(const Sleeper& sleeper) {
    cpuset.write(root + "/tasks", std::to_string(sleeper.pid()));
    cpu.write(root + "/tasks", std::to_string(sleeper.pid()));
  }
  // Moves the calling process into the cpuset.
  static void enter(const LiveCpusets& at) {
    reserved::MountedGroups(at.mounts_.v1_cpuset).write(at.root + "/cgroup.procs", "0");
    reserved::MountedGroups(at.mounts_.v1_cpu).write(at.root + "/cgroup.procs", "0");
  }
  std::vector<std::string> children() const { return cpuset.children(root); }
  std::string set_of(const Sleeper& sleeper) const {
    const auto group = reserved::HostProcesses().group_of(sleeper.pid(), "cpuset").value_or("?");
    return group == root ? "root" : group.substr(std::min(group.size(), root.size() + 1));
  }
  std::string cores_of(const Sleeper& sleeper) const {
    return os::core_list_text(reserved::HostProcesses().affinity(sleeper.pid()).value());
  }
  std::string first() const { return std::to_string(cores[0].value); }
  std::string second() const { return std::to_string(cores[1].value); }
  std::string both() const { return os::core_list_text(cores); }

 private:
  reserved::Mounts mounts_;
  bool usable_ = false;

  static void remove_tree(reserved::GroupFiles& groups, const std::string& group) {
    for (const std::string& child : groups.children(group)) remove_tree(groups, group + "/" + child);
    reserved::move_all(groups, group, "", "tasks");
    groups.remove(group);
  }
  void remove_stale() {
    for (reserved::GroupFiles* groups : {&cpuset, &cpu})
      for (const std::string& name : groups->children(""))
        if (name.starts_with("corelane-test-") && kill(std::stoi(name.substr(14)), 0) != 0) remove_tree(*groups, name);
  }

 public:
  reserved::MountedGroups cpuset, cpu;
  const std::string root;
  std::vector<CoreId> cores;
};

}  // namespace corelane::testing
