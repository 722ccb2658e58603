// Backend carries out the decisions of the accounts on the host: it makes sets of cores and moves threads into them.
// Each change is written into the journal first, so that it can be undone (restore.h).
//
// Threads: one at a time. Not for real-time threads, since it reads and writes files.
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

// What a backend works on. All of it must outlive the backend. A hierarchy that does not exist is null.
struct Host {
  GroupFiles* cpuset = nullptr;   // v1
  GroupFiles* cpu = nullptr;      // v1
  GroupFiles* unified = nullptr;  // v2
  ProcessTable* processes = nullptr;
  Journal* journal = nullptr;
  int of_process = 0;  // a pid: only that process and its descendants are moved; 0: all processes

  // For resources besides cores, see controller.h.
  GroupFiles* memory = nullptr;         // v1
  GroupFiles* blkio = nullptr;          // v1
  GroupFiles* resctrl = nullptr;        // /sys/fs/resctrl
  std::string resctrl_lack{};           // why there is no resctrl, and how to fix that
  GroupFiles* disks = nullptr;          // /sys/block
  std::uint64_t memory_to_promise = 0;  // bytes; 0: none
};

struct BackendReport {
  std::string kind{};                 // cgroup-v2, cgroup-v1, affinity
  std::string place{};                // the folder of its control groups; "" if it has none
  std::vector<std::string> cannot{};  // what it cannot promise here, and how to fix that
};

struct StartReport {
  unsigned moved = 0;      // threads, or processes, moved into the default set
  unsigned unmovable = 0;  // threads that the kernel binds to their cores
};

// For people: what was not possible, and how to fix it.
using Remarks = std::vector<std::string>;
template <typename T>
using Done = Expected<T, std::string>;

class Controller;
using Controllers = std::vector<std::unique_ptr<Controller>>;

using Members = std::optional<std::vector<int>>;

// A reservation that could not be kept, and why.
struct Lost {
  ReservationId id{};
  std::string why{};
};

class Backend {
 public:
  virtual ~Backend() = default;

  virtual BackendReport report() const = 0;
  // Returns whether the kernel keeps other threads out of a set.
  virtual bool enforces() const = 0;
  // Returns why this backend cannot give shares of a core, and what would fix that. "": it can give them.
  virtual std::string share_fault() const { return {}; }

  // Makes the default set from these cores, and moves everything movable into it.
  virtual Done<StartReport> start(const std::vector<CoreId>& all) = 0;
  // Moves processes that are outside of all sets into the default set, and retries what had to wait. Call it now and
  // then. Returns the reservations that must end.
  virtual std::vector<Lost> sweep() = 0;
  // Returns the cores that cannot be in any set now, ascending. There are two causes: the kernel has not yet freed the
  // cores of a removed set, or the root group has lost them.
  virtual std::vector<CoreId> held() const { return {}; }
  // Returns whether work is left that the next sweep() would do, so that it should come soon.
  virtual bool is_waiting() const { return false; }

  // Execute the commands of facts.h. After a fault, leave() and remove_set() clean up what is half done. A backend may
  // postpone the commands of one decision until settle(), so that no thread runs on the cores of an intermediate state.
  virtual Done<void> set_common(const std::vector<CoreId>& cores) = 0;
  virtual Done<void> make_set(const SetName& set, const Place& place) = 0;
  virtual void remove_set(const SetName& set) = 0;
  virtual Done<Remarks> enter(const Enter& command) = 0;
  virtual void leave(ReservationId id) = 0;  // does nothing if it never entered
  virtual Done<void> join(const SetName& set, const Process& service) = 0;
  virtual void part(const Process& service, ReservationId home) = 0;
  // Ends a decision. Returns the reservations whose processes could not be moved.
  virtual std::vector<Lost> settle() { return {}; }

  // Returns the controllers for other resources, as this backend can provide them. Call it after start().
  virtual Controllers controllers() const = 0;
  // Returns the control group (v2) that belongs to the reservation's processes alone; "" if they have none.
  virtual std::string group_of(ReservationId /*id*/) const { return {}; }

  // Reads the host again, once for all reservations. processes_of() then tells the state at that time or later.
  virtual void look() {}
  // Reads this process and its parents again, without a pass over all processes.
  virtual void look_at(const Process& /*process*/) {}
  // Returns the living processes of the reservation's process or tree. Services that work there only because of a loan
  // do not count. Returns nothing if the state cannot be read now, for lack of a file descriptor or of memory.
  virtual Members processes_of(ReservationId id) const = 0;
};

// The bound of searches of one process tree. A tree that forks faster than its processes are moved reaches it.
inline constexpr int tree_rounds = 100;
// For a process without an identity: returns no fault if it has ended and need not be moved. Returns a fault if it
// cannot be read now.
Done<void> fault_of_unseen(const ProcessTable& processes, int pid);

inline constexpr const char* default_group = "corelane-default";
std::string group_name(const SetName& set);  // "corelane-r17"

}  // namespace corelane::reserved
