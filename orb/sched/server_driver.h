// ServerDriver: drives one server for whoever runs its work. At every change that one says what was used and whether
// there is work, and for whom; the answer says whether the work may run, at which priority, and when to say something
// again. Asking more often than needed changes nothing. docs/servers.md says what a change is.
//
// Threads: owned by one thread at a time. No clock, no thread, no allocation.
#pragma once

#include <optional>

#include "orb/sched/server.h"

namespace corelane::sched {

// What becomes of the work of a server.
struct ServerVerdict {
  bool runs = false;    // it may run, at `priority` (by deadlines: under `deadline`)
  Priority priority{};  // as long as it runs or waits
  Time deadline = never;
  Duration budget{};   // while it runs: step again after so much processor time at the latest
  Time again = never;  // while it waits: step again then

  friend constexpr bool operator==(const ServerVerdict&, const ServerVerdict&) = default;
};

class ServerDriver {
 public:
  // priority: of the work; that of an IoServer has its caller's instead.
  explicit ServerDriver(const Server& server, Priority priority = {}) noexcept : server_(server), priority_(priority) {}

  // used: processor time of the work since the last step, in one piece until now as far as is known. work: the most
  // urgent caller that has some (of other servers than IoServer any, such as {}); nothing when there is none.
  ServerVerdict step(Time now, Duration used, const std::optional<IoCaller>& work) noexcept;

  // The same for who does not see whether the work slept meanwhile: what it used counts as used last, and what it did
  // not use comes back no sooner for having been there. Without this a server whose work sleeps would look like one
  // that is kept from running, which may catch up. Never sooner than a step that saw everything would, perhaps later.
  ServerVerdict step_unobserved(Time now, Duration used, const std::optional<IoCaller>& work) noexcept;

  // As step() would answer, if nothing has changed but the time.
  ServerVerdict verdict(Time now) const noexcept;

  const Server& server() const noexcept { return server_; }
  Duration used() const noexcept { return used_; }  // in all

 private:
  Server server_;
  Priority priority_;
  bool has_work_ = false;
  Duration used_{};
};

}  // namespace corelane::sched
