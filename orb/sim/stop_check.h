// StopCheck finds out whether a long run is to end early, at a low cost: it passes the question on only once in many
// calls.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

namespace corelane::sim {

class StopCheck {
 public:
  static constexpr std::uint32_t interval = 4096;  // calls of is_due() for one question

  // `asked` says whether the run is to end. Empty: it never is.
  explicit StopCheck(std::function<bool()> asked = {}) : asked_(std::move(asked)) {}

  // Returns whether the run is to end. Call it once for each step of the run.
  bool is_due() {
    if (!asked_ || stopped_ || ++steps_ % interval != 0) return stopped_;
    return stopped_ = asked_();
  }
  // Returns whether is_due() has returned true.
  bool stopped() const { return stopped_; }

 private:
  std::function<bool()> asked_;
  std::uint32_t steps_ = 0;
  bool stopped_ = false;
};

}  // namespace corelane::sim
