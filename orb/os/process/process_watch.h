// ProcessWatch reports which processes have ended. It holds a pidfd for each, so it watches the process and not its
// pid, which the system may reuse.
//
// Threads: any thread calls add(), keep_only() and wake(); one thread calls wait().
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/thread_safety.h"
#include "orb/base/time.h"
#include "orb/os/fd.h"
#include "orb/os/machine/host.h"
#include "orb/os/mutex.h"

namespace corelane::os {

class ProcessWatch {
 public:
  // Throws std::system_error if the system gives no descriptor.
  ProcessWatch();

  // Watches a process, once however often it is added. A process that has already ended is reported like any other. An
  // error is an errno: the system gave no descriptor, and the process is not watched.
  Expected<void, int> add(const ProcessIdentity& process);
  // Stops watching all other processes.
  void keep_only(const std::vector<ProcessIdentity>& needed);
  // Returns the processes that have ended, which are then no longer watched. Returns none at `until` and after wake().
  std::vector<ProcessIdentity> wait(Time until);
  void wake() noexcept;

 private:
  using WatchNumber = std::uint64_t;  // never reused, unlike a pid or a descriptor
  struct Watched {
    WatchNumber number;
    Fd pidfd;  // none: the process has ended
  };
  using PidAndStart = std::pair<std::int32_t, std::uint64_t>;

  std::vector<ProcessIdentity> take_ended(const std::vector<WatchNumber>& told);

  const Fd poll_;
  const Fd bell_;
  Mutex mutex_;
  std::map<PidAndStart, Watched> watched_ CORELANE_GUARDED_BY(mutex_);
  WatchNumber last_ CORELANE_GUARDED_BY(mutex_) = 0;
};

}  // namespace corelane::os
