#include "orb/dispatch/admission/admission_control.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "orb/base/errors.h"

namespace corelane::dispatch {

void AdmissionControl::propose(AdmissionCandidatePtr candidate, Time now) noexcept {
  if (lost_peers_.contains(candidate->owner)) return candidate->fail(errors::task_gone);
  const bool is_here_again = candidate->since != Time{};
  if (is_here_again) return static_cast<void>(first_ = std::move(candidate));
  candidate->since = now;
  if (const auto refusal = charge_.add_to(candidate->contract, candidate->label))
    return turn_away(std::move(candidate), *refusal);
  first_ = std::move(candidate);
}

bool AdmissionControl::step(Time now, std::span<const sched::Command>& commands) noexcept {
  if (!first_ || !retry_.is_due(now)) return false;
  const bool prepared = is_under_way();
  if (prepared && now - first_->since >= patience)
    return turn_away(std::move(first_), {.code = sched::RefusalCode::reorganizing}), true;
  if (prepared && !manager_.continue_preparing(slice)) return true;
  if (const auto begun = promises_.begin(first_->contract, now); !begun) {
    kept_since_ = std::min(kept_since_, now);
    const bool lasts = now - std::max(kept_since_, first_->asked) >= patience;
    const bool ends = lasts || begun.error() == errors::no_memory;
    ends ? fail_first(begun.error()) : retry_.failed(now);
    return ends;
  }
  kept_since_ = never;
  retry_.start(now);
  if (!prepared) prepare_first();
  if (manager_.continue_preparing(prepared ? 0 : slice))
    decide_first(now, commands);
  else
    promises_.abandon();
  return true;
}

void AdmissionControl::prepare_first() noexcept {
  preparing_ = first_->request;
  manager_.prepare(first_->owner, first_->contract);
}

// Ends the transaction.
void AdmissionControl::decide_first(Time now, std::span<const sched::Command>& commands) noexcept {
  AdmissionCandidatePtr candidate = std::move(first_);
  preparing_ = {};
  if (manager_.would_move())
    if (const auto claimed = promises_.claim_all(); !claimed)
      return try_again(std::move(candidate), claimed.error(), now);
  const sched::Proposed fact{
      .at = now, .request = candidate->request, .peer = candidate->owner, .contract = candidate->contract};
  deciding_.push_back(std::move(candidate));
  commands = manager_.decide(fact);
  const auto promised = promises_.commit();
  if (promised) return;
  // The promise was not written, so it does not hold. An Admit that finds no new task makes the task depart.
  for (const sched::Command& command : commands)
    if (const auto* admit = std::get_if<sched::Admit>(&command))
      if (auto unwritten = take(admit->request)) try_again(std::move(unwritten), promised.error(), now);
}

// Tries again if another process came between. Otherwise the new task fails.
void AdmissionControl::try_again(AdmissionCandidatePtr candidate, Error error, Time now) noexcept {
  if (error.kind != ErrorKind::transient || now - candidate->since >= patience) return candidate->fail(error);
  retry_.failed(now);
  first_ = std::move(candidate);
}

// The next new task need not wait for what this one waited for.
void AdmissionControl::fail_first(Error error) noexcept {
  retry_.start(Time{});
  std::exchange(first_, nullptr)->fail(error);
}

AdmissionCandidatePtr AdmissionControl::take(JobId request) noexcept {
  return deciding_.take_if([&](const AdmissionCandidate& candidate) { return candidate.request == request; });
}

bool AdmissionControl::refused(const sched::Refuse& refuse, Time now) noexcept {
  AdmissionCandidatePtr candidate = take(refuse.job);
  if (!candidate) return false;
  const sched::RefusalCode code = refuse.reason.code;
  if (code == sched::RefusalCode::reorganizing && now - candidate->since < patience) {
    retry_.start(now + reorganizing_period);  // it waits while tasks are moved for another new task
    queue_.push(std::move(candidate));
    return true;
  }
  // A contract that fits here may make a task of another process late. So nothing is proposed beside other processes.
  sched::Refusal why = refuse.reason;
  const bool is_open = code == sched::RefusalCode::not_schedulable && !why.nearest.found();
  if (is_open && promises_.beside_others()) why.unproposed = sched::Unproposed::beside_others;
  if (is_open && !promises_.beside_others()) {
    candidate->refusal = why;
    if (explaining_.size() == most_refused) end_explaining();
    explaining_.push_back(std::move(candidate));
  } else {
    turn_away(std::move(candidate), why);
  }
  return true;
}

bool AdmissionControl::explain(Time now) noexcept {
  if (explaining_.empty()) return false;
  if (tell_late(now)) return true;
  AdmissionCandidate& first = *explaining_.front();
  if (std::exchange(asking_, first.request) != first.request) manager_.begin_nearest(first.contract);
  const auto found = manager_.continue_nearest(slice);
  if (!found) return true;
  charge_.propose(first.refusal, *found, first.contract, first.label);
  end_explaining();
  return true;
}

bool AdmissionControl::tell_late(Time now) noexcept {
  if (tell_by() > now) return false;
  end_explaining();
  return true;
}

// Sends the first refusal as far as it is known.
void AdmissionControl::end_explaining() noexcept {
  AdmissionCandidatePtr first = explaining_.pop_front();
  sched::Refusal why = first->refusal;
  if (why.unproposed == sched::Unproposed::not_asked && !why.nearest.found())
    why.unproposed = sched::Unproposed::no_time;
  turn_away(std::move(first), why);
}

void AdmissionControl::turn_away(AdmissionCandidatePtr candidate, const sched::Refusal& refusal) noexcept {
  ++refusals_;
  sched::Refusal told = refusal;
  if (told.loser == no_task) told.jitter = candidate->contract.jitter;
  charge_.note_slowdown(told, candidate->contract, candidate->label);
  log_.record(candidate->label, candidate->owner, candidate->contract, told, candidate->asked);
  candidate->refuse(told);
}

void AdmissionControl::drop(PeerId peer) noexcept {
  lost_peers_.add(peer);
  const auto theirs = [&](const AdmissionCandidate& candidate) { return candidate.owner == peer; };
  if (first_ && theirs(*first_)) fail_first(errors::task_gone);
  for (NodeList<AdmissionCandidate>* const list : {&deciding_, &explaining_})
    while (AdmissionCandidatePtr candidate = list->take_if(theirs))
      candidate->fail(errors::task_gone);  // bound: most_refused
}

void AdmissionControl::fail_all(Error error) noexcept {
  if (first_) fail_first(error);
  while (AdmissionCandidatePtr candidate = deciding_.pop_front()) candidate->fail(error);
  while (!explaining_.empty()) end_explaining();
}

}  // namespace corelane::dispatch
