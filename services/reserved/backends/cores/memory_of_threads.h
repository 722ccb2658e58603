// ThreadMemory records in the journal how threads were before a backend changed them, so that this can be restored when
// they leave.
// Threads: as Backend.
#pragma once

#include <string>
#include <vector>

#include "services/reserved/backends/backend.h"

namespace corelane::reserved {

class ThreadMemory {
 public:
  explicit ThreadMemory(const Host& host) : host_(&host) {}

  // Records that the thread ran on these cores, unless its affinity is already recorded.
  Done<void> keep_affinity_as(int thread, const std::vector<CoreId>& cores);
  void forget_affinity(int thread);

  // The affinity before and the mask that was given, for a backend that sets masks itself. It is recorded before each
  // change, so that one of several entries has what the thread runs on now.
  struct Mask {
    std::vector<CoreId> before{}, given{};
    friend bool operator==(const Mask&, const Mask&) = default;
  };
  Done<void> add_mask(const Process& thread, const Mask& mask);
  std::vector<Mask> masks_of(const Process& thread) const;
  // Drops all other entries of the thread.
  void keep_only(const Process& thread, const Mask& mask);
  void forget_masks(const Process& thread) { keep_only(thread, {}); }

  // Records how the thread was scheduled before it had a share.
  Done<void> keep_scheduling(const Process& thread);
  // Restores that scheduling, unless another program has changed it meanwhile. Drops the entry, unless the kernel
  // refuses. Returns 0 or an errno.
  int put_back_scheduling(const Process& thread);

  // Records the group that the process or thread was in. `list`: thread_list for one thread, "" for the whole process.
  Done<void> keep_home(const std::string& hierarchy, const Process& process, const std::string& group,
                       const std::string& list = {});
  std::optional<std::string> kept_home(const std::string& hierarchy, const Process& process) const;
  // Drops that entry. Call it when the process is back in the group.
  void forget_home(const std::string& hierarchy, const Process& process, const std::string& list = {});
  // Drops entries of threads and processes that have ended. Call it now and then.
  void forget_dead();

 private:
  const JournalEntry* find(JournalEntry::Kind kind, const Process& process) const;
  const JournalEntry* find_home(const std::string& hierarchy, const Process& process, const std::string& list) const;

  const Host* host_;
};

// Restores the scheduling of a journal entry. Returns 0 or an errno.
int put_back_scheduling(ProcessTable& processes, const JournalEntry& entry);
// Formats the numbers of os::SchedulingClass. parse_scheduling() reads "" as an ordinary thread.
std::string scheduling_text(const os::SchedulingClass& scheduling);
os::SchedulingClass parse_scheduling(const std::string& text);

}  // namespace corelane::reserved
