#include "orb/sched/servers/server_driver.h"

#include <utility>

namespace corelane::sched {

ServerVerdict ServerDriver::step(Time now, Duration used, const std::optional<IoCaller>& work) noexcept {
  used_ += used;
  if (used > Duration::zero()) charge(server_, now, used);
  const bool had_work = std::exchange(has_work_, work.has_value());
  if (had_work && !has_work_) block(server_, now);
  auto* io = std::get_if<IoServer>(&server_);
  if (io != nullptr && has_work_) {
    io->serve(now, *work);
    priority_ = work->priority;
  }
  if (!had_work && has_work_) wake(server_, now);
  return verdict(now);
}

ServerVerdict ServerDriver::step_unobserved(Time now, Duration used, const std::optional<IoCaller>& work) noexcept {
  if (has_work_) wake(server_, now - used);
  return step(now, used, work);
}

ServerVerdict ServerDriver::verdict(Time now) const noexcept {
  if (!has_work_) return {};
  ServerVerdict verdict{.priority = priority_, .budget = available(server_, now)};
  verdict.runs = verdict.budget > Duration::zero();
  if (!verdict.runs) verdict.again = next(server_, now);
  if (const auto* bandwidth = std::get_if<ConstantBandwidthServer>(&server_)) verdict.deadline = bandwidth->deadline();
  return verdict;
}

}  // namespace corelane::sched
