// CoreWatch: notices that a leased core is gone: unplugged, no longer in the process's cpuset or mask, or taken back by
// whoever lent it; and that it is there again. Tells the manager each of these once. An agent: the housekeeper steps
// it.
//
// A core that is taken back is lost at once, one that cannot be used once that has lasted `patience`: whoever moves
// processes between cpusets may leave one between two of them for a moment, and tasks that have left do not come back.
// A core is there again when it could be used for `patience`.
//
// Threads: step() on one that is not real-time and is bound to no core; it makes one system call for each core.
// A core that could not be used from the beginning (a made-up one) is not watched for that.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "orb/base/agent.h"
#include "orb/dispatch/core_provider.h"
#include "orb/dispatch/inbox.h"
#include "orb/os/thread.h"

namespace corelane::dispatch {

class CoreWatch final : public Agent {
 public:
  static constexpr Duration period = std::chrono::milliseconds{100};
  static constexpr Duration patience = 3 * period;
  using Usable = bool (*)(CoreId) noexcept;

  // `usable`: whether the calling thread may run there. All outlive this.
  CoreWatch(const std::vector<CoreLease>& leases, const CoreProvider& provider, NoteInbox& inbox,
            Usable usable = os::may_run_on);

  // Before the first step. `rebind` is called on the stepping thread before the manager is told that a core returned:
  // the kernel may have unbound threads meanwhile. It does not throw.
  void on_return(std::function<void()> rebind) { rebind_ = std::move(rebind); }
  // Those of `cores` stay lost until a restart.
  void keep_lost(std::vector<CoreId> cores) { final_ = std::move(cores); }

  bool step(Time now) noexcept override;

 private:
  struct Watched {
    CoreId core;
    bool was_usable = false;
    bool lost = false;
    Time gone_since = never;  // not usable since then
    Time back_since = never;  // of a lost one: usable again since then
    bool told = false;        // that it stays lost
  };
  bool look_for_loss(Watched& each, Time now) noexcept;
  bool look_for_return(Watched& each, Time now) noexcept;

  void note_usable(Watched& each, Time now) const noexcept;

  const CoreProvider& provider_;
  NoteInbox& inbox_;
  const Usable usable_;
  std::function<void()> rebind_;
  std::vector<CoreId> final_;
  // Owner: whoever calls step().
  bool began_ = false;
  std::vector<Watched> cores_;
};

}  // namespace corelane::dispatch
