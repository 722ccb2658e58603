// ProcessWatch: tells which processes have ended, by a pidfd for each: what is watched is the process and not its
// number, which may be another's by then.
//
// Threads: add(), keep_only() and wake() from any; wait() by one.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/time.h"
#include "orb/os/fd.h"
#include "orb/os/host.h"

namespace corelane::os {

class ProcessWatch {
 public:
  // std::system_error when the system gives no descriptor.
  ProcessWatch();

  // Each process once, however often it is added. One that has ended already is told like any other. Else an errno: the
  // system gives no descriptor, and the process is not watched.
  Expected<void, int> add(const ProcessIdentity& process);
  // Ends the watch over all others.
  void keep_only(const std::vector<ProcessIdentity>& needed);
  // Those that ended, which are not watched any more. Returns without any at `until`, and after wake().
  std::vector<ProcessIdentity> wait(Time until);
  void wake() noexcept;

 private:
  using WatchNumber = std::uint64_t;  // never used again, unlike a pid and a descriptor
  struct Watched {
    WatchNumber number;
    Fd pidfd;  // none: it has ended
  };
  using PidAndStart = std::pair<std::int32_t, std::uint64_t>;

  std::vector<ProcessIdentity> take_ended(const std::vector<WatchNumber>& told);

  const Fd poll_;
  const Fd bell_;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::map<PidAndStart, Watched> watched_;
  WatchNumber last_ = 0;
};

}  // namespace corelane::os
