#include "orb/dispatch/lateness_log.h"

#include <unistd.h>

#include <new>

#include "orb/os/log.h"

namespace corelane::dispatch {
namespace {

std::string counted(std::uint64_t count, const char* of_one, const char* of_many) {
  return std::to_string(count) + (count == 1 ? of_one : of_many);
}

}  // namespace

// Where there is no memory the line is lost; counters and trace are not.
bool LatenessLog::step(Time now) noexcept try {
  const auto due = line(now);
  if (due)
    os::log::warn(*due + "; corelane top counts them" +
                  (recorded_ ? ", corelane trace --request " + std::to_string(::getpid()) + " shows what led there"
                             : ", and nothing records what led there: this dispatch.mode promises no deadline"));
  return due.has_value();
} catch (const std::bad_alloc&) {
  return false;
}

void LatenessLog::end() noexcept try {
  if (const auto rest = line(never))
    os::log::warn(*rest + (recorded_ ? "; recorder.dump_at_exit keeps what led there" : ""));
} catch (const std::bad_alloc&) {
}

std::optional<std::string> LatenessLog::line(Time now) {
  const TaskEvents::Tally tally = events_.tally();
  const std::uint64_t misses = tally.misses - told_.misses, overruns = tally.overruns - told_.overruns;
  const std::uint64_t oversleeps = tally.oversleeps - told_.oversleeps;
  if (now < next_ || (misses == 0 && overruns == 0 && oversleeps == 0)) return std::nullopt;
  told_ = tally;
  next_ = now == never ? never : now + quiet;
  const std::string label = label_of_(tally.last);
  std::string text;
  const auto add = [&text](std::uint64_t count, const char* of_one, const char* of_many) {
    if (count != 0) text += (text.empty() ? "dispatch: " : ", ") + counted(count, of_one, of_many);
  };
  add(misses, " deadline was missed", " deadlines were missed");
  add(overruns, " job exceeded its budget", " jobs exceeded their budget");
  add(oversleeps, " job slept for longer than it declared", " jobs slept for longer than they declared");
  return text + ", the last of task " + std::to_string(tally.last.value) + (label.empty() ? "" : " (" + label + ")");
}

}  // namespace corelane::dispatch
