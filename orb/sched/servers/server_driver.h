// ServerDriver drives one server for the code that runs its work. After every change, that code reports what was used,
// whether there is work, and for which caller. The answer says whether the work may run, at which priority, and when to
// call again. Extra calls change nothing. docs/servers.md says what a change is.
//
// Threads: owned by one thread at a time. No clock, no thread, no allocation.
#pragma once

#include <optional>

#include "orb/sched/servers/server.h"

namespace corelane::sched {

// What the work of a server may do.
struct ServerVerdict {
  bool runs = false;    // it may run, at `priority` (or with `deadline`)
  Priority priority{};  // valid while it runs or waits
  Time deadline = never;
  Duration budget{};   // while it runs: step again after at most this processor time
  Time again = never;  // while it waits: step again at this time

  friend constexpr bool operator==(const ServerVerdict&, const ServerVerdict&) = default;
};

class ServerDriver {
 public:
  // `priority`: the priority of the work. The work of an IoServer has the priority of its caller instead.
  explicit ServerDriver(const Server& server, Priority priority = {}) noexcept : server_(server), priority_(priority) {}

  // Processes a change and returns the verdict. `used`: the processor time of the work since the last step; it is
  // assumed to lie in one piece just before `now`. `work`: the most urgent caller with work, or nothing if there is no
  // work. For servers other than IoServer any caller will do, such as {}.
  ServerVerdict step(Time now, Duration used, const std::optional<IoCaller>& work) noexcept;

  // Does the same for code that cannot see whether the work slept in between. What the work used counts as used last.
  // What it did not use is not replenished earlier because it was kept. Without this function, a server whose work
  // sleeps would look like one that is kept from running, which may catch up. The verdict is never earlier than that of
  // a step() that saw everything, and may be later.
  ServerVerdict step_unobserved(Time now, Duration used, const std::optional<IoCaller>& work) noexcept;

  // Returns the answer that step() would give if only the time had changed.
  ServerVerdict verdict(Time now) const noexcept;

  const Server& server() const noexcept { return server_; }
  Duration used() const noexcept { return used_; }  // in total

 private:
  Server server_;
  Priority priority_;
  bool has_work_ = false;
  Duration used_{};
};

}  // namespace corelane::sched
