// ProcessWatch: tells when processes end, by a pidfd for each; those for which the system gives none are looked at each
// second.
//
// Threads: add() and wake() from any; wait() by one.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "orb/base/time.h"
#include "orb/os/fd.h"
#include "orb/os/host.h"

namespace corelane::nameserver {

class ProcessWatch {
 public:
  // std::system_error when the system gives no descriptor.
  ProcessWatch();

  // Once for each process at a time, however often it is called. One that has ended already is told like any other.
  void add(const os::ProcessIdentity& process);
  // Those that ended, which are not watched any more; none at `until`, and after wake().
  std::vector<os::ProcessIdentity> wait(Time until);
  void wake() noexcept;

 private:
  static constexpr Duration look_again = std::chrono::seconds{1};

  using WatchNumber = std::uint64_t;  // never used again, unlike a pid
  struct Watched {
    WatchNumber number;
    os::Fd pidfd;  // none: looked at
  };
  using PidAndStart = std::pair<std::int32_t, std::uint64_t>;

  bool has_unwatched() const;
  std::vector<os::ProcessIdentity> take_ended(const std::vector<WatchNumber>& told);

  const os::Fd poll_;
  const os::Fd bell_;
  mutable std::mutex mutex_;
  std::map<PidAndStart, Watched> watched_;  // guarded by mutex_
  WatchNumber last_ = 0;                    // guarded by mutex_
};

}  // namespace corelane::nameserver
