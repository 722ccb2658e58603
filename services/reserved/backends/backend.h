// Backend: makes true on the host what the accounts decide: sets of cores, and who runs in them. All of it can be put
// back: each change is written into the journal first (restore.h).
//
// Threads: one at a time. Nothing here is for a real-time thread: files are read and written.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "orb/base/expected.h"
#include "services/reserved/accounts/facts.h"
#include "services/reserved/backends/group_files.h"
#include "services/reserved/backends/journal.h"
#include "services/reserved/backends/process_table.h"

namespace corelane::reserved {

// What a backend works on; all of it outlives the backend. Hierarchies that are not there are null.
struct Host {
  GroupFiles* cpuset = nullptr;   // v1
  GroupFiles* cpu = nullptr;      // v1
  GroupFiles* unified = nullptr;  // v2
  ProcessTable* processes = nullptr;
  Journal* journal = nullptr;
  int of_process = 0;  // `processes` are this one and what it started; 0: everybody

  // For what is reserved besides cores, see controller.h.
  GroupFiles* memory = nullptr;         // v1
  GroupFiles* blkio = nullptr;          // v1
  GroupFiles* resctrl = nullptr;        // /sys/fs/resctrl
  std::string resctrl_lack{};           // why it is not there, and what mends that
  GroupFiles* disks = nullptr;          // /sys/block
  std::uint64_t memory_to_promise = 0;  // bytes; 0: none
};

struct BackendReport {
  std::string kind{};                 // cgroup-v2, cgroup-v1, affinity
  std::string place{};                // the folder of its control groups; "" without
  std::vector<std::string> cannot{};  // what it cannot promise here, and what would mend it
};

struct StartReport {
  unsigned moved = 0;      // threads, or processes, into the default set
  unsigned unmovable = 0;  // threads that the kernel binds to their cores
};

// For people: what was not possible, and how to mend it.
using Remarks = std::vector<std::string>;
template <typename T>
using Done = Expected<T, std::string>;

class Controller;
using Controllers = std::vector<std::unique_ptr<Controller>>;

using Members = std::optional<std::vector<int>>;

// What could not be kept.
struct Lost {
  ReservationId id{};
  std::string why{};
};

class Backend {
 public:
  virtual ~Backend() = default;

  virtual BackendReport report() const = 0;
  // Whether the kernel keeps others out of a set.
  virtual bool enforces() const = 0;
  // Why this backend can give no share of a core, and what would mend that; "": it can.
  virtual std::string share_fault() const { return {}; }

  // Makes the default set of all these cores and moves everything movable into it.
  virtual Done<StartReport> start(const std::vector<CoreId>& all) = 0;
  // Whoever came to be outside of all sets goes into the default one; what had to wait is tried again. Now and then.
  virtual std::vector<Lost> sweep() = 0;
  // Cores that no set can have now: of sets that were removed, of which the kernel gives them to no other yet, and
  // those that the root has no longer. Ascending.
  virtual std::vector<CoreId> held() const { return {}; }
  // Whether something waits that sweep() would do soon.
  virtual bool is_waiting() const { return false; }

  // See facts.h. A fault leaves what is half done to leave() and remove_set(). What one decision of the accounts
  // commanded may be done in one go at its end, by settle(), so that nobody is where he would be between two commands.
  virtual Done<void> set_common(const std::vector<CoreId>& cores) = 0;
  virtual Done<void> make_set(const SetName& set, const Place& place) = 0;
  virtual void remove_set(const SetName& set) = 0;
  virtual Done<Remarks> enter(const Enter& command) = 0;
  virtual void leave(ReservationId id) = 0;  // one that never entered is passed over
  virtual Done<void> join(const SetName& set, const Process& service) = 0;
  virtual void part(const Process& service, ReservationId home) = 0;
  // Those that it turns out nobody is moved for.
  virtual std::vector<Lost> settle() { return {}; }

  // For what else a reservation may have, by the means that go with this backend. After start().
  virtual Controllers controllers() const = 0;
  // The control group (v2) that the reservation's processes have for themselves; "": they have none.
  virtual std::string group_of(ReservationId /*id*/) const { return {}; }

  // Looks at the host anew, once for all reservations: processes_of() tells what was there then, or later.
  virtual void look() {}
  // As look(), of that process alone: at it and its parents, without a pass over all processes.
  virtual void look_at(const Process& /*process*/) {}
  // What lives of the reservation's process or tree; services that work there do not count. Nothing: that cannot be
  // looked at now, for want of a descriptor or of memory.
  virtual Members processes_of(ReservationId id) const = 0;
};

// How often a tree is gone through that forks faster than it is moved.
inline constexpr int tree_rounds = 100;
// Of a process that has no identity: it has ended and need not be moved, or cannot be looked at now, which is a fault.
Done<void> fault_of_unseen(const ProcessTable& processes, int pid);

inline constexpr const char* default_group = "corelane-default";
std::string group_name(const SetName& set);  // "corelane-r17"

}  // namespace corelane::reserved
