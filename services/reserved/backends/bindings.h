// Bindings: what threads are bound to by themselves, over changes of their cpuset. A kernel before 6.2 lets each thread
// of a cpuset have all its cores again whenever those change, and whenever the thread comes in; here they are written
// down before and bound again after, to what their set has of them. A later kernel does so itself, and nothing is left
// to do. Threads: as Backend.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "services/reserved/backends/backend.h"
#include "services/reserved/backends/memory_of_threads.h"

namespace corelane::reserved {

class Bindings {
 public:
  // `controller`: as in /proc/<pid>/cgroup. `file`: tells the cores of a group, or of the nearest above that has it.
  Bindings(const Host& host, GroupFiles& groups, std::string controller, std::string file)
      : host_(&host), groups_(&groups), controller_(std::move(controller)), file_(std::move(file)), memory_(host) {}

  // Before a change of sets: of all threads. A fault: it cannot be written down.
  Done<void> keep_all();
  // Before it is moved.
  Done<void> keep(int thread);
  // After a change.
  void bind_again();
  // All cores of the group that it is in; none where that is not known.
  std::vector<CoreId> cores_around(int thread);
  // Takes over what threads have changed by themselves since. Now and then.
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
  std::map<std::string, std::vector<CoreId>> sets_{};  // by group, as read since the last change
};

}  // namespace corelane::reserved
