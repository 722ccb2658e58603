#include "services/reserved/backends/cores/restore.h"

#include <algorithm>
#include <cerrno>
#include <ranges>

#include "orb/os/machine/core_list.h"
#include "services/reserved/backends/cores/bindings.h"
#include "services/reserved/backends/cores/memory_of_threads.h"

namespace corelane::reserved {
namespace {

using Kind = JournalEntry::Kind;

GroupFiles* hierarchy_of(const Host& host, const std::string& name) {
  if (name == "cpuset") return host.cpuset;
  if (name == "cpu") return host.cpu;
  if (name == "memory") return host.memory;
  if (name == "blkio") return host.blkio;
  if (name == "resctrl") return host.resctrl;
  return name == "unified" ? host.unified : nullptr;
}

// Returns 0 or an errno.
int put_back_group(GroupFiles& groups, const JournalEntry& entry) {
  if (!groups.has(entry.subject)) return 0;
  if (entry.where == "resctrl") return groups.remove(entry.subject);  // the members go to the root's group
  const char* const list = entry.where == "unified" ? "cgroup.procs" : thread_list;
  if (entry.where == "unified") groups.write(joined_path(entry.subject, "cpuset.cpus.partition"), "member");
  int patience = removal_patience;
  return remove_emptied(groups, entry.subject, entry.before, list, patience);
}

int put_back_home(const Host& host, GroupFiles& groups, const JournalEntry& entry) {
  if (!is_same(*host.processes, entry.process)) return 0;
  // Its old group may be gone. Then it stays where the members of the daemon's group go.
  if (!groups.has(entry.before)) return 0;
  const char* const list = entry.subject == thread_list ? thread_list : "cgroup.procs";
  const int fault = groups.write(joined_path(entry.before, list), std::to_string(entry.process.pid));
  return fault == ESRCH ? 0 : fault;
}

std::vector<CoreId> cores_of_group(const Host& host, int thread) {
  if (host.cpuset != nullptr) return Bindings(host, *host.cpuset, "cpuset", "cpuset.cpus").cores_around(thread);
  if (host.unified == nullptr) return {};
  return Bindings(host, *host.unified, "", "cpuset.cpus.effective").cores_around(thread);
}

// Returns whether the present mask came from the daemon or the kernel. A kernel before 6.2 gives a thread all cores of
// the group that it enters. Any other mask is the thread's own.
bool is_given(const Host& host, const JournalEntry& entry, const std::vector<CoreId>& now) {
  if (!entry.subject.empty()) return os::parse_core_list(entry.subject) == now;
  const auto whole = cores_of_group(host, entry.process.pid);
  return whole.empty() || whole == now;
}

int put_back_affinity(const Host& host, const JournalEntry& entry) {
  const auto cores = os::parse_core_list(entry.before);
  if (!cores || !is_same(*host.processes, entry.process)) return 0;
  const bool by_mask = !entry.subject.empty();  // by the backend that sets masks itself
  const auto now = by_mask ? host.processes->mask_of(entry.process.pid) : host.processes->affinity(entry.process.pid);
  if (!now || *now == *cores || !is_given(host, entry, *now)) return 0;
  const int fault = host.processes->set_affinity(entry.process.pid, *cores);
  return fault == ESRCH ? 0 : fault;
}

bool has_entry(const Host& host, int thread) {
  const auto identity = host.processes->identity(thread);
  return identity && std::ranges::any_of(host.journal->entries(), [&](const JournalEntry& entry) {
           return entry.kind == Kind::affinity && entry.process == *identity;
         });
}

// Restores threads that have inherited the mask. A thread with an affinity entry of its own is restored by that entry.
int put_back_mask(const Host& host, const JournalEntry& entry) {
  const auto given = os::parse_core_list(entry.subject), before = os::parse_core_list(entry.before);
  if (!given || !before) return EINVAL;
  int fault = 0;
  for (const int pid : host.processes->all())
    for (const int thread : host.processes->threads_of(pid)) {
      if (host.processes->mask_of(thread) != *given || host.processes->is_fixed(thread)) continue;
      if (has_entry(host, thread)) continue;
      const int refused = host.processes->set_affinity(thread, *before);
      // EPERM is no fault: a thread that this user may not move was never moved by this daemon.
      if (refused != 0 && refused != ESRCH && refused != EPERM) fault = refused;
    }
  return fault;
}

// Returns 0 if the file already has the value, since it may not be writable: the kernel does not let some interrupts be
// moved. If a group or an interrupt is gone, there is nothing to restore.
int put_back_value(GroupFiles& groups, const JournalEntry& entry) {
  if (groups.read(entry.subject) == entry.before) return 0;
  const int fault = groups.write(entry.subject, entry.before);
  return fault == ENOENT ? 0 : fault;
}

int put_back(const Host& host, const std::string& interrupts, const JournalEntry& entry) {
  if (entry.kind == Kind::affinity) return put_back_affinity(host, entry);
  if (entry.kind == Kind::mask) return put_back_mask(host, entry);
  if (entry.kind == Kind::policy) return put_back_scheduling(*host.processes, entry);
  if (entry.kind == Kind::interrupt) {
    MountedGroups folder(interrupts);
    return put_back_value(folder, entry);
  }
  GroupFiles* const groups = hierarchy_of(host, entry.where);
  if (groups == nullptr) return ENOENT;
  if (entry.kind == Kind::group) return put_back_group(*groups, entry);
  if (entry.kind == Kind::home) return put_back_home(host, *groups, entry);
  return put_back_value(*groups, entry);
}

// Limits the length of a line in the log.
std::string shortened(const std::string& text) {
  constexpr std::size_t most = 200;
  return text.size() <= most ? text : text.substr(0, most) + "...";
}

std::string fault_text(const JournalEntry& entry, int fault) {
  const std::string what = entry.subject.empty() ? "process " + std::to_string(entry.process.pid) : entry.subject;
  return shortened(what) + (entry.where.empty() ? "" : " of " + shortened(entry.where)) +
         " could not be put back to '" + shortened(entry.before) + "': " + errno_text(fault);
}

}  // namespace

std::vector<std::string> restore(const Host& host, const std::string& interrupts) {
  std::vector<std::string> faults;
  // Groups come before the values of the groups above them. Affinities come after groups, because a thread that leaves
  // a group gets all cores of its new one.
  for (const Kind kind :
       {Kind::policy, Kind::home, Kind::group, Kind::value, Kind::mask, Kind::affinity, Kind::interrupt}) {
    const std::vector<JournalEntry> entries = host.journal->entries();
    for (const JournalEntry& entry : entries | std::views::reverse) {
      if (entry.kind != kind) continue;
      if (const int fault = put_back(host, interrupts, entry); fault != 0)
        faults.push_back(fault_text(entry, fault));
      else
        host.journal->drop(entry);
    }
  }
  return faults;
}

}  // namespace corelane::reserved
