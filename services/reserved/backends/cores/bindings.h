// Bindings keeps the affinity that threads have set themselves when their cpuset changes. A kernel before 6.2 gives a
// thread all cores of its cpuset whenever these change, and whenever the thread enters a cpuset. So the masks are
// written down before a change. After it, the threads are bound again to what their new set has of those cores. A later
// kernel does that itself, and then there is nothing to do.
// Threads: as Backend.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "services/reserved/backends/backend.h"
#include "services/reserved/backends/cores/memory_of_threads.h"

namespace corelane::reserved {

class Bindings {
 public:
  // `controller`: the name in /proc/<pid>/cgroup. `file`: contains the cores of a group. If a group has no such file,
  // the nearest group above it that has one decides.
  Bindings(const Host& host, GroupFiles& groups, std::string controller, std::string file)
      : host_(&host), groups_(&groups), controller_(std::move(controller)), file_(std::move(file)), memory_(host) {}

  // Writes down the masks of all threads. Call it before sets change. A fault says that they cannot be written down.
  Done<void> keep_all();
  // Writes down the mask of one thread. Call it before the thread is moved.
  Done<void> keep(int thread);
  // Binds the threads to their own cores again. Call it after a change.
  void bind_again();
  // Returns all cores of the group that the thread is in; none if that is unknown.
  std::vector<CoreId> cores_around(int thread);
  // Records masks that threads have changed themselves since. Call it now and then.
  void refresh();

 private:
  struct Kept {
    int thread;
    std::vector<CoreId> cores;
  };
  const std::vector<CoreId>& cores_of_group(const std::string& group);
  const std::vector<CoreId>* cores_of_set(int thread);
  std::vector<Kept> kept() const;

  const Host* host_;
  GroupFiles* groups_;
  const std::string controller_, file_;
  ThreadMemory memory_;
  std::map<std::string, std::vector<CoreId>> sets_{};  // by group; read since the last change
};

}  // namespace corelane::reserved
