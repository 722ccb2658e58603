// CoreWatch: notices that a leased core is gone: unplugged, no longer in the process's cpuset or mask, or taken back by
// whoever lent it; and tells the manager, once. An agent: the housekeeper steps it.
//
// A core that is taken back is lost at once, one that cannot be used once that has lasted `patience`: whoever moves
// processes between cpusets may leave one between two of them for a moment, and tasks that have left do not come back.
//
// Threads: step() on one that is not real-time and is bound to no core; it makes one system call for each core.
// A core that could not be used from the beginning (a made-up one) is not watched for that.
#pragma once

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

  bool step(Time now) noexcept override;

 private:
  struct Watched {
    CoreId core;
    bool was_usable = false;
    bool lost = false;
    Time gone_since = never;  // not usable since then
  };

  void note_usable(Watched& each, Time now) const noexcept;

  const CoreProvider& provider_;
  NoteInbox& inbox_;
  const Usable usable_;
  // Owner: whoever calls step().
  bool began_ = false;
  std::vector<Watched> cores_;
};

}  // namespace corelane::dispatch
