// EndRequests: lets an operator end tasks of any client of this process (`corelane tasks end`). The request is a
// file in the runtime directory, and the answer is another one. An agent: the housekeeper steps it.
//
//   end-PID        the process's start in clock ticks, and task numbers: words of decimal digits. Whoever asks makes it
//                  whole, as by rename(). It must belong to this process's user or to root, and nobody else may write
//                  it: others are not obeyed.
//   end-PID.done   the numbers of those tasks that end now. Whoever asked removes it.
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

// The words of such a file; nothing when it holds anything else.
std::optional<std::vector<std::uint64_t>> numbers_of(std::string_view text);
std::string text_of(const std::vector<std::uint64_t>& numbers);

class EndRequests final : public Agent {
 public:
  static constexpr Duration period = std::chrono::milliseconds{250};
  static constexpr std::size_t longest = std::size_t{64} * 1024;  // bytes of a request

  // `end`: whether that task was there and ends now. `directory` empty: nothing can be asked.
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
