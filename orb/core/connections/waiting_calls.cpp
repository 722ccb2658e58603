#include "orb/core/connections/waiting_calls.h"

#include <algorithm>

#include "orb/os/clock.h"

namespace corelane::core {

void WaitingCalls::add(PendingReply& pending) {
  calls_.push_back(&pending);
  leader_.set_listed();
}

void WaitingCalls::remove(PendingReply& pending) noexcept {
  std::erase(calls_, &pending);
  update_listed();
  wake_successor();
}

PendingReply* WaitingCalls::find(std::uint32_t request_id) const noexcept {
  const auto found =
      std::find_if(calls_.begin(), calls_.end(), [&](const PendingReply* p) { return p->call().id == request_id; });
  return found != calls_.end() ? *found : nullptr;
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
  const auto first = [&](auto&& may) {
    const auto found = std::find_if(calls_.begin(), calls_.end(), may);
    return found != calls_.end() ? &(*found)->call() : nullptr;
  };
  const auto waits = [](const PendingReply* p) { return p->call().group == nullptr && !p->call().away; };
  const auto is_posted = [](const PendingReply* p) { return p->call().group != nullptr; };
  if (CallState* waiting = first(waits)) return waiting->parker.unpark();
  if (CallState* posted = first(is_posted)) posted->group->wake();
}

bool WaitingCalls::may_lead(const ReplyGroup& group) const noexcept {
  bool has_calls = false;
  for (const PendingReply* p : calls_) {
    if (p->call().group != &group) continue;
    if (!p->call().is_waiting()) return false;
    has_calls = true;
  }
  return has_calls;
}

Time WaitingCalls::earliest_deadline(const ReplyGroup& group, Time without_calls) const noexcept {
  Time earliest = never;
  bool has_calls = false;
  for (const PendingReply* p : calls_) {
    if (p->call().group != &group) continue;
    earliest = std::min(earliest, p->call().deadline);
    has_calls = true;
  }
  return has_calls ? earliest : without_calls;
}

void WaitingCalls::expire(const ReplyGroup& group, const Error& why) noexcept {
  const Time now = os::now();
  for (PendingReply* p : calls_) {
    const CallState& call = p->call();
    const bool is_late = call.deadline != never && now >= call.deadline;
    if (call.group == &group && call.is_waiting() && is_late) p->settle(why);
  }
}

PendingReply* WaitingCalls::take_ended(ReplyGroup& group) noexcept {
  PendingReply* const ended = group.take_ended();
  for (const PendingReply* p = ended; p != nullptr; p = p->next()) std::erase(calls_, p);
  update_listed();
  wake_successor();
  return ended;
}

}  // namespace corelane::core
