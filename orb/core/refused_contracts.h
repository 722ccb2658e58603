// RefusedContracts: what the log says of operations whose IDL contract was not admitted: the first lines as they come,
// and one line for all that follow, so that a server with thousands of such objects does not fill its log.
//
// Threads: any that is not real-time. A short lock; what is to be said is written without it.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "orb/base/time.h"

namespace corelane::core {

class RefusedContracts {
 public:
  static constexpr int most = 8;                                // lines of their own in each `window`
  static constexpr Duration window = std::chrono::seconds{10};  // between two summaries

  // An operation of this label was refused, as `line` says. Returns what the log is to say now.
  std::vector<std::string> note(const std::string& label, std::string line, Time now);
  // Returns the summary of what was not said yet, if there is any. It counts as said.
  std::optional<std::string> rest();

 private:
  std::optional<std::string> take_summary();

  std::mutex mutex_;
  // Guarded by mutex_.
  std::optional<Time> began_;  // the window
  int said_ = 0;               // lines in it
  std::uint64_t unsaid_ = 0;
  std::string last_;  // label of the last one that was not said
};

// Of this process: all its ORBs share an executive, and the log.
RefusedContracts& refused_contracts() noexcept;

}  // namespace corelane::core
