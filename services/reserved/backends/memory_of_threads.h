// What threads were before a backend changed them, in the journal: to be given back when they leave.
// Threads: as Backend.
#pragma once

#include <string>
#include <vector>

#include "services/reserved/backends/backend.h"

namespace corelane::reserved {

class ThreadMemory {
 public:
  explicit ThreadMemory(const Host& host) : host_(&host) {}

  // Writes down that it ran on these, unless something is known already.
  Done<void> keep_affinity_as(int thread, const std::vector<CoreId>& cores);
  void forget_affinity(int thread);

  // The same of a backend that sets masks itself, and what it gives in place: written down before each change, so that
  // of several entries one has what the thread runs on.
  struct Mask {
    std::vector<CoreId> before{}, given{};
    friend bool operator==(const Mask&, const Mask&) = default;
  };
  Done<void> add_mask(const Process& thread, const Mask& mask);
  std::vector<Mask> masks_of(const Process& thread) const;
  // Forgets all others of the thread.
  void keep_only(const Process& thread, const Mask& mask);
  void forget_masks(const Process& thread) { keep_only(thread, {}); }

  // How it was scheduled before it had a share.
  Done<void> keep_scheduling(const Process& thread);
  // As it was before, unless somebody has set it otherwise meanwhile; and forgets it, unless the kernel refuses.
  // Results are 0 or an errno.
  int put_back_scheduling(const Process& thread);

  // `list`: thread_list for a thread alone, "" for the whole process.
  Done<void> keep_home(const std::string& hierarchy, const Process& process, const std::string& group,
                       const std::string& list = {});
  std::optional<std::string> kept_home(const std::string& hierarchy, const Process& process) const;
  // Once it is there again.
  void forget_home(const std::string& hierarchy, const Process& process, const std::string& list = {});
  // Forgets those that have ended. Now and then.
  void forget_dead();

 private:
  const JournalEntry* find(JournalEntry::Kind kind, const Process& process) const;
  const JournalEntry* find_home(const std::string& hierarchy, const Process& process, const std::string& list) const;

  const Host* host_;
};

// Of a journal's entry; 0 or an errno.
int put_back_scheduling(ProcessTable& processes, const JournalEntry& entry);
// The numbers of os::SchedulingClass. "" is an ordinary thread.
std::string scheduling_text(const os::SchedulingClass& scheduling);
os::SchedulingClass parse_scheduling(const std::string& text);

}  // namespace corelane::reserved
