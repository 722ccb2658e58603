// CoreWatch: notices that a leased core is gone: unplugged, no longer in the process's cpuset, or taken back by whoever
// lent it; and tells the manager, once. An agent: the housekeeper steps it.
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
  };

  const CoreProvider& provider_;
  NoteInbox& inbox_;
  const Usable usable_;
  // Owner: whoever calls step().
  bool began_ = false;
  std::vector<Watched> cores_;
};

}  // namespace corelane::dispatch
