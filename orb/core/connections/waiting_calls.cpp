#include "orb/core/connections/waiting_calls.h"

#include <algorithm>

#include "orb/os/clock.h"

namespace corelane::core {

void WaitingCalls::add(PendingReply& pending) noexcept {
  calls_.push_back(pending);
  leader_.set_listed();
}

void WaitingCalls::remove(PendingReply& pending) noexcept {
  calls_.erase(pending);
  update_listed();
  wake_successor();
}

PendingReply* WaitingCalls::find(std::uint32_t request_id) const noexcept {
  return calls_.find([&](const CallState& call) { return call.id == request_id; });
}

void WaitingCalls::update_listed() noexcept {
  if (calls_.empty()) leader_.clear_listed();
}

void WaitingCalls::stop_leading() noexcept {
  leader_.stop();
  wake_successor();
}

void WaitingCalls::wake_successor() noexcept {
  if (calls_.empty() || leader_.is_led()) return;
  const auto waits = [](const CallState& call) { return call.group == nullptr && !call.away; };
  const auto is_posted = [](const CallState& call) { return call.group != nullptr; };
  if (PendingReply* const waiting = calls_.find(waits)) return waiting->call().parker.unpark();
  if (PendingReply* const posted = calls_.find(is_posted)) posted->call().group->wake();
}

bool WaitingCalls::may_lead(const ReplyGroup& group) const noexcept {
  const auto is_of_group = [&](const CallState& call) { return call.group == &group; };
  const auto has_ended = [&](const CallState& call) { return is_of_group(call) && !call.is_waiting(); };
  return calls_.find(is_of_group) != nullptr && calls_.find(has_ended) == nullptr;
}

Time WaitingCalls::earliest_deadline(const ReplyGroup& group, Time without_calls) const noexcept {
  Time earliest = never;
  bool has_calls = false;
  calls_.for_each([&](const PendingReply& pending) {
    if (pending.call().group != &group) return;
    earliest = std::min(earliest, pending.call().deadline);
    has_calls = true;
  });
  return has_calls ? earliest : without_calls;
}

void WaitingCalls::expire(const ReplyGroup& group, const Error& why) noexcept {
  const Time now = os::now();
  calls_.for_each([&](PendingReply& pending) {
    const CallState& call = pending.call();
    const bool is_late = call.deadline != never && now >= call.deadline;
    if (call.group == &group && call.is_waiting() && is_late) pending.settle(why);
  });
}

PendingReply* WaitingCalls::take_ended(ReplyGroup& group) noexcept {
  PendingReply* const ended = group.take_ended();
  for (const PendingReply* p = ended; p != nullptr; p = p->next()) calls_.erase(*p);
  update_listed();
  wake_successor();
  return ended;
}

}  // namespace corelane::core
