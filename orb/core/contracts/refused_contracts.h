// RefusedContracts limits the log lines about operations whose IDL contract was not admitted. The first lines are
// logged as they come; one line then summarizes all that follow. So a server with thousands of such objects does not
// fill its log.
//
// Threads: any that is not real-time. It holds its lock briefly; the caller writes to the log without it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "orb/base/thread_safety.h"
#include "orb/base/time.h"
#include "orb/os/mutex.h"

namespace corelane::core {

class RefusedContracts {
 public:
  static constexpr int most = 8;                                // single lines in each `window`
  static constexpr Duration window = std::chrono::seconds{10};  // between two summaries

  // Notes that an operation with this label was refused; `line` says why. Returns the lines to log now.
  std::vector<std::string> note(const std::string& label, std::string line, Time now);
  // Returns the summary of the refusals that were not logged yet, if there are any. They count as logged.
  std::optional<std::string> rest();

 private:
  std::optional<std::string> take_summary() CORELANE_REQUIRES(mutex_);

  os::Mutex mutex_;
  std::optional<Time> began_ CORELANE_GUARDED_BY(mutex_);  // when the current window began
  int logged_ CORELANE_GUARDED_BY(mutex_) = 0;             // lines logged in the window
  std::uint64_t unlogged_ CORELANE_GUARDED_BY(mutex_) = 0;
  std::string last_ CORELANE_GUARDED_BY(mutex_);  // label of the last refusal that was not logged
};

// Returns the instance of this process, whose ORBs share one executive and one log.
RefusedContracts& refused_contracts() noexcept;

}  // namespace corelane::core
