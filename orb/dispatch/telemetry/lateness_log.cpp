#include "orb/dispatch/telemetry/lateness_log.h"

#include <unistd.h>

#include <new>

#include "orb/base/text/counted.h"
#include "orb/os/log.h"

namespace corelane::dispatch {
namespace {

using Count = TaskEvents::Count;

std::string way_to_the_reason(LatenessLog::Recorded recorded) {
  switch (recorded) {
    case LatenessLog::Recorded::yes:
    case LatenessLog::Recorded::dumped_at_exit:
      break;
    case LatenessLog::Recorded::not_in_this_mode:
      return "and nothing records what led there: this dispatch.mode promises no deadline";
    case LatenessLog::Recorded::switched_off:
      return "and nothing records what led there: recorder.size is 0";
  }
  return "corelane trace --request " + std::to_string(::getpid()) + " shows what led there";
}

}  // namespace

// If there is no memory, the line is lost. Counters and trace are not.
bool LatenessLog::step(Time now) noexcept try {
  const auto due = line(now);
  if (due)
    os::log::warn(*due + "; corelane top counts them while their tasks are here, " + way_to_the_reason(recorded_));
  return due.has_value();
} catch (const std::bad_alloc&) {
  return false;
}

void LatenessLog::end() noexcept try {
  if (const auto rest = line(never))
    os::log::warn(*rest +
                  (recorded_ == Recorded::yes ? "; with recorder.dump_at_exit = on a trace would be written" : ""));
} catch (const std::bad_alloc&) {
}

std::optional<std::string> LatenessLog::line(Time now) {
  if (now < next_) return std::nullopt;
  const TaskEvents::Tally tally = events_.tally();
  std::string text;
  const auto add = [&](const Count& latest, const Count& told, const char* of_one, const char* of_many) {
    const std::uint64_t count = latest.events - told.events;
    if (count == 0) return;
    const std::string label = label_of_(latest.last);
    text += (text.empty() ? "dispatch: " : ", ") + counted(count, of_one, of_many) + " (" +
            (count == 1 ? "" : "last ") + "task " + std::to_string(latest.last.value) +
            (label.empty() ? "" : ", " + label) + ")";
  };
  add(tally.misses, told_.misses, "deadline was missed", "deadlines were missed");
  add(tally.overruns, told_.overruns, "job exceeded its budget", "jobs exceeded their budget");
  add(tally.oversleeps, told_.oversleeps, "job slept for longer than it declared",
      "jobs slept for longer than they declared");
  add(tally.refusals, told_.refusals, "request was refused while a job of its task waited",
      "requests were refused while a job of their task waited");
  if (text.empty()) return std::nullopt;
  told_ = tally;
  next_ = now == never ? never : now + quiet;
  return text;
}

}  // namespace corelane::dispatch
