// CoreWatch tells the manager when a leased core is lost and when it is available again, once each. A core is lost if
// it is unplugged, is no longer in the process's cpuset or affinity mask, or is taken back by its provider. CoreWatch
// is an agent that the housekeeper steps.
//
// A core that is taken back is lost at once. A core that cannot be used is lost after `patience`. A program that moves
// processes between cpusets may leave a process in neither for a moment, and ended tasks do not come back. A lost core
// is available again when it could be used for `patience`.
//
// Threads: step() on a thread that is not real-time and is bound to no core; it makes one system call for each core. A
// core that was never usable (a simulated one) is not watched for usability.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "orb/base/agent.h"
#include "orb/dispatch/core_provider.h"
#include "orb/dispatch/queue/inbox.h"
#include "orb/os/thread.h"

namespace corelane::dispatch {

class CoreWatch final : public Agent {
 public:
  static constexpr Duration period = std::chrono::milliseconds{100};
  static constexpr Duration patience = 3 * period;
  using Usable = bool (*)(CoreId) noexcept;

  // `usable`: returns whether the calling thread may run on the core. All arguments must outlive this object.
  CoreWatch(const std::vector<CoreLease>& leases, const CoreProvider& provider, NoteInbox& inbox,
            Usable usable = os::may_run_on);

  // Sets a function that is called on the stepping thread before the manager learns that a core returned. The kernel
  // may have unbound threads meanwhile. The function must not throw. Call this before the first step.
  void on_return(std::function<void()> rebind) { rebind_ = std::move(rebind); }
  // Makes these cores stay lost until a restart once they are lost.
  void keep_lost(std::vector<CoreId> cores) { final_ = std::move(cores); }

  bool step(Time now) noexcept override;
  // Returns whether a core is lost, or may be in a moment. Thread: as step().
  bool misses_core() const noexcept;

 private:
  struct Watched {
    CoreId core;
    bool was_usable = false;
    bool lost = false;
    Time gone_since = never;  // not usable since then; never: usable
    Time back_since = never;  // of a lost core: usable again since then
    bool told = false;        // the log says that it stays lost
  };
  bool look_for_loss(Watched& each, Time now) noexcept;
  bool look_for_return(Watched& each, Time now) noexcept;

  void note_usable(Watched& each, Time now) const noexcept;

  const CoreProvider& provider_;
  NoteInbox& inbox_;
  const Usable usable_;
  std::function<void()> rebind_;
  std::vector<CoreId> final_;
  // Owner: the thread that calls step().
  bool began_ = false;
  std::vector<Watched> cores_;
};

}  // namespace corelane::dispatch
