// LatenessLog: says in the log that jobs ended after their deadline, exceeded their contract, or were refused while one
// of their task waited: a line soon after the first, and at most one in ten seconds, for all tasks together. Who wants
// to hear of each has TaskEvents.
//
// Threads: one at a time, none that is real-time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "orb/base/agent.h"
#include "orb/base/time.h"
#include "orb/dispatch/task_events.h"

namespace corelane::dispatch {

class LatenessLog final : public Agent {
 public:
  static constexpr Duration period = std::chrono::seconds{1};  // of step()
  static constexpr Duration quiet = std::chrono::seconds{10};  // between two lines
  // What a task is called; empty for one that is not known any more.
  using LabelOf = std::function<std::string(TaskId)>;

  // Whether there is a recorder, to which the lines then refer; else why there is none.
  enum class Recorded : std::uint8_t { yes, dumped_at_exit, not_in_this_mode, switched_off };

  // `events` outlives this.
  LatenessLog(const TaskEvents& events, LabelOf label_of, Recorded recorded = Recorded::yes)
      : events_(events), label_of_(std::move(label_of)), recorded_(recorded) {}

  // Writes the line that is due. Whether there was one.
  bool step(Time now) noexcept override;
  // Writes what was not told yet.
  void end() noexcept;

  // What is to be told now, if anything; counts as told.
  std::optional<std::string> line(Time now);

 private:
  const TaskEvents& events_;
  const LabelOf label_of_;
  const Recorded recorded_;

  TaskEvents::Tally told_{};
  Time next_{};
};

}  // namespace corelane::dispatch
