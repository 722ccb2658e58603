// EndRequests lets an operator end tasks of any client of this process (`corelane tasks end`). The request is a file in
// the runtime directory, and the answer is another one. EndRequests is an agent that the housekeeper steps.
//
//   end-PID        the process's start in clock ticks, and task numbers: words of decimal digits. The requester creates
//                  it complete, for example with rename(). It must belong to this process's user or to root, and no
//                  other user may be able to write it; other requests are rejected.
//   end-PID.done   the numbers of those tasks that end now. The requester removes it.
//
// Threads: one at a time, none that is real-time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orb/base/agent.h"
#include "orb/base/ids.h"
#include "orb/base/time.h"

namespace corelane::dispatch {

inline std::string end_request(const std::string& directory, int pid) {
  return directory + "/end-" + std::to_string(pid);
}
inline std::string end_answer(const std::string& directory, int pid) { return end_request(directory, pid) + ".done"; }

// Returns the numbers in such a file; nothing if it contains anything else.
std::optional<std::vector<std::uint64_t>> numbers_of(std::string_view text);
std::string text_of(const std::vector<std::uint64_t>& numbers);

class EndRequests final : public Agent {
 public:
  static constexpr Duration period = std::chrono::milliseconds{250};
  static constexpr std::size_t longest = std::size_t{64} * 1024;  // bytes of a request

  // `end`: ends the task, and returns whether it was there. `directory` empty: no requests are read.
  EndRequests(std::string directory, std::function<bool(TaskId)> end)
      : directory_(std::move(directory)), end_(std::move(end)) {}

  bool step(Time now) noexcept override;

 private:
  bool look();
  void answer(const std::vector<std::uint64_t>& request, unsigned user);

  const std::string directory_;
  const std::function<bool(TaskId)> end_;
};

}  // namespace corelane::dispatch
