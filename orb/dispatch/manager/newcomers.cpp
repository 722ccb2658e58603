#include "orb/dispatch/manager/newcomers.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "orb/base/errors.h"

namespace corelane::dispatch {

void Newcomers::propose(NewcomerPtr newcomer, Time now) noexcept {
  if (lost_peers_.contains(newcomer->owner)) return newcomer->fail(errors::task_gone);
  const bool is_here_again = newcomer->since != Time{};
  if (is_here_again) return static_cast<void>(first_ = std::move(newcomer));
  newcomer->since = now;
  if (!is_sound(newcomer->contract)) return turn_away(std::move(newcomer), {.code = sched::RefusalCode::bad_contract});
  Contract& contract = newcomer->contract;
  contract.budget += spin_;
  if (!is_sound(contract))
    return turn_away(std::move(newcomer), {.code = sched::RefusalCode::not_schedulable,
                                           .response = contract.budget + contract.suspension,
                                           .deadline = contract.deadline});
  first_ = std::move(newcomer);
}

bool Newcomers::step(Time now, std::span<const sched::Command>& commands) noexcept {
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

void Newcomers::prepare_first() noexcept {
  preparing_ = first_->request;
  manager_.prepare(first_->owner, first_->contract);
}

// Ends the transaction.
void Newcomers::decide_first(Time now, std::span<const sched::Command>& commands) noexcept {
  NewcomerPtr newcomer = std::move(first_);
  preparing_ = {};
  if (manager_.would_move())
    if (const auto claimed = promises_.claim_all(); !claimed)
      return try_again(std::move(newcomer), claimed.error(), now);
  const sched::Proposed fact{
      .at = now, .request = newcomer->request, .peer = newcomer->owner, .contract = newcomer->contract};
  deciding_.push_back(std::move(newcomer));
  commands = manager_.decide(fact);
  const auto promised = promises_.commit();
  if (promised) return;
  // The promise was not written, so it does not hold. An Admit that finds no new task makes the task depart.
  for (const sched::Command& command : commands)
    if (const auto* admit = std::get_if<sched::Admit>(&command))
      if (auto unwritten = take(admit->request)) try_again(std::move(unwritten), promised.error(), now);
}

// Tries again if another process came between. Otherwise the new task fails.
void Newcomers::try_again(NewcomerPtr newcomer, Error error, Time now) noexcept {
  if (error.kind != ErrorKind::transient || now - newcomer->since >= patience) return newcomer->fail(error);
  retry_.failed(now);
  first_ = std::move(newcomer);
}

// The next new task need not wait for what this one waited for.
void Newcomers::fail_first(Error error) noexcept {
  retry_.start(Time{});
  std::exchange(first_, nullptr)->fail(error);
}

NewcomerPtr Newcomers::take(JobId request) noexcept {
  return deciding_.take_if([&](const Newcomer& newcomer) { return newcomer.request == request; });
}

bool Newcomers::refused(const sched::Refuse& refuse, Time now) noexcept {
  NewcomerPtr newcomer = take(refuse.job);
  if (!newcomer) return false;
  const sched::RefusalCode code = refuse.reason.code;
  if (code == sched::RefusalCode::reorganizing && now - newcomer->since < patience) {
    retry_.start(now + reorganizing_period);  // it waits while tasks are moved for another new task
    queue_.push(std::move(newcomer));
    return true;
  }
  // A contract that fits here may make a task of another process late. So nothing is proposed beside other processes.
  sched::Refusal why = refuse.reason;
  const bool is_open = code == sched::RefusalCode::not_schedulable && !why.nearest.found();
  if (is_open && promises_.beside_others()) why.unproposed = sched::Unproposed::beside_others;
  if (is_open && !promises_.beside_others()) {
    newcomer->refusal = why;
    if (explaining_.size() == most_refused) end_explaining();
    explaining_.push_back(std::move(newcomer));
  } else {
    turn_away(std::move(newcomer), why);
  }
  return true;
}

bool Newcomers::explain(Time now) noexcept {
  if (explaining_.empty()) return false;
  if (tell_late(now)) return true;
  Newcomer& first = *explaining_.front();
  if (std::exchange(asking_, first.request) != first.request) manager_.begin_nearest(first.contract);
  const auto found = manager_.continue_nearest(slice);
  if (!found) return true;
  sched::Nearest& nearest = first.refusal.nearest = *found;
  nearest.budget -= std::min(nearest.budget, spin_);
  if (nearest.budget == Duration::zero()) nearest = {};
  if (!nearest.found()) first.refusal.unproposed = sched::Unproposed::nothing_fits;
  end_explaining();
  return true;
}

bool Newcomers::tell_late(Time now) noexcept {
  if (tell_by() > now) return false;
  end_explaining();
  return true;
}

// Sends the first refusal as far as it is known.
void Newcomers::end_explaining() noexcept {
  NewcomerPtr first = explaining_.pop_front();
  sched::Refusal why = first->refusal;
  if (why.unproposed == sched::Unproposed::not_asked && !why.nearest.found())
    why.unproposed = sched::Unproposed::no_time;
  turn_away(std::move(first), why);
}

void Newcomers::turn_away(NewcomerPtr newcomer, const sched::Refusal& refusal) noexcept {
  ++refusals_;
  sched::Refusal told = refusal;
  if (told.loser == no_task) told.jitter = newcomer->contract.jitter;
  log_.record(newcomer->label, newcomer->owner, newcomer->contract, told, newcomer->asked);
  newcomer->refuse(told);
}

void Newcomers::drop(PeerId peer) noexcept {
  lost_peers_.add(peer);
  const auto theirs = [&](const Newcomer& newcomer) { return newcomer.owner == peer; };
  if (first_ && theirs(*first_)) fail_first(errors::task_gone);
  for (NodeList<Newcomer>* const list : {&deciding_, &explaining_})
    while (NewcomerPtr newcomer = list->take_if(theirs)) newcomer->fail(errors::task_gone);  // bound: most_refused
}

void Newcomers::fail_all(Error error) noexcept {
  if (first_) fail_first(error);
  while (NewcomerPtr newcomer = deciding_.pop_front()) newcomer->fail(error);
  while (!explaining_.empty()) end_explaining();
}

}  // namespace corelane::dispatch
