// Ceilings: the immediate ceilings of what the tasks of a process lock, as native levels. The Manager says them
// (sched::Ceiling), task threads look theirs up.
//
// Threads: the table is the manager's; a Ceiling is any thread's. Source: the immediate priority ceiling protocol, Sha,
// Rajkumar, Lehoczky (1990), as POSIX has it in PTHREAD_PRIO_PROTECT. A POSIX mutex of that kind would not do: its
// ceiling is fixed while tasks come and go, and its holder could not be demoted at its end alone.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <unordered_map>

#include "orb/base/contract.h"
#include "orb/base/ids.h"

namespace corelane::dispatch {

// Whoever locks the resource runs at this SCHED_FIFO level at least; 0: at no higher one.
struct Ceiling {
  std::atomic<int> native{0};
};
// Of a contract's resources, in its order; null where it names none.
using CeilingsOfTask = std::array<std::shared_ptr<const Ceiling>, max_uses>;

class Ceilings {
 public:
  // Allocates; who keeps the answer keeps the places in the table.
  CeilingsOfTask of(const Contract& contract);
  // What the resource's ceiling is on `core` from now on; 0: nobody uses it there any more. All users of a resource are
  // on one core, so the level of another one does not count any more.
  void set(ResourceId resource, CoreId core, int native) noexcept;

 private:
  struct Entry {
    std::shared_ptr<Ceiling> ceiling = std::make_shared<Ceiling>();
    CoreId core = no_core;  // that the level is of
    bool is_unused() const noexcept { return core == no_core && ceiling.use_count() == 1; }
  };
  std::unordered_map<ResourceId, Entry> entries_;
};

}  // namespace corelane::dispatch
