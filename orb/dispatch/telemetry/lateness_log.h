// LatenessLog writes to the log that jobs missed their deadline, exceeded their contract, or were refused while another
// job of their task waited. It writes a line soon after the first event, and then at most one in ten seconds, for all
// tasks together. TaskEvents tells of each single event. It stays apart from Incidents (orb/core/requests/incidents.h),
// which counts under a lock and keeps texts: tasks' threads count at the end of jobs, without a lock.
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
  // Returns a task's label; "" if the task is not known any more.
  using LabelOf = std::function<std::string(TaskId)>;

  // Says whether there is a recorder, to which the lines then refer. If not, says why.
  enum class Recorded : std::uint8_t { yes, dumped_at_exit, not_in_this_mode, switched_off };

  // `events` must outlive this object.
  LatenessLog(const TaskEvents& events, LabelOf label_of, Recorded recorded = Recorded::yes)
      : events_(events), label_of_(std::move(label_of)), recorded_(recorded) {}

  // Writes the line that is due. Returns whether there was one.
  bool step(Time now) noexcept override;
  // Writes what was not logged yet.
  void end() noexcept;

  // Returns the line that is due, if any, and counts its events as told.
  std::optional<std::string> line(Time now);

 private:
  const TaskEvents& events_;
  const LabelOf label_of_;
  const Recorded recorded_;

  TaskEvents::Tally told_{};
  Time next_{};
};

}  // namespace corelane::dispatch
