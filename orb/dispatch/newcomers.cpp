#include "orb/dispatch/newcomers.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "orb/base/errors.h"

namespace corelane::dispatch {

void Newcomer::refuse(const sched::Refusal& refusal) noexcept {
  if (handler) handler->refused(refusal);
  if (job) std::exchange(job, nullptr)->refuse(refusal);
}

void Newcomer::fail(Error error) noexcept {
  if (handler) handler->failed(error);
  if (job) std::exchange(job, nullptr)->fail(error);
}

void Newcomers::propose(Newcomer newcomer, Time now) {
  if (std::find(lost_peers_.begin(), lost_peers_.end(), newcomer.owner) != lost_peers_.end())
    return newcomer.fail(errors::task_gone);
  if (!is_sound(newcomer.contract)) return turn_away(std::move(newcomer), {.code = sched::RefusalCode::bad_contract});
  if (waiting_.size() >= most) return newcomer.fail(errors::queue_full);
  if (waiting_.empty()) retry_.start(now);
  waiting_.push_back(std::move(newcomer));
}

bool Newcomers::step(Time now, std::vector<sched::Command>& commands) noexcept {
  if (waiting_.empty() || !retry_.is_due(now)) return false;
  const bool prepared = waiting_.front().request == preparing_;
  const bool lasts = now - waiting_.front().since >= patience;
  if (prepared && lasts) return turn_away(take_first(), {.code = sched::RefusalCode::reorganizing}), true;
  if (prepared && !manager_.continue_preparing(slice)) return true;
  if (const auto begun = promises_.begin(waiting_.front().contract, now); !begun) {
    retry_.failed(now);
    if (lasts) take_first().fail(begun.error());
    return lasts;
  }
  retry_.start(now);
  if (!prepared) prepare_first();
  if (manager_.continue_preparing(prepared ? 0 : slice))
    decide_first(now, commands);
  else
    promises_.abandon();
  return true;
}

void Newcomers::prepare_first() noexcept {
  const Newcomer& first = waiting_.front();
  preparing_ = first.request;
  manager_.prepare(first.owner, first.contract);
}

Newcomer Newcomers::take_first() noexcept {
  Newcomer first = std::move(waiting_.front());
  waiting_.pop_front();
  return first;
}

// Ends the transaction.
void Newcomers::decide_first(Time now, std::vector<sched::Command>& commands) noexcept {
  Newcomer newcomer = take_first();
  preparing_ = {};
  const sched::Proposed fact{
      .at = now, .request = newcomer.request, .peer = newcomer.owner, .contract = newcomer.contract};
  deciding_.push_back(std::move(newcomer));
  const auto decided = manager_.decide(fact);
  commands.insert(commands.end(), decided.begin(), decided.end());
  const auto promised = promises_.commit();
  if (promised) return;
  // Not written down, so not promised: an Admit that finds nobody waiting for it makes the task depart.
  for (const sched::Command& command : commands)
    if (const auto* admit = std::get_if<sched::Admit>(&command))
      if (auto unwritten = take(admit->request)) try_again(std::move(*unwritten), promised.error(), now);
}

// It is decided anew when only another process came between.
void Newcomers::try_again(Newcomer newcomer, Error error, Time now) noexcept {
  if (error.kind != ErrorKind::transient || now - newcomer.since >= patience) return newcomer.fail(error);
  retry_.failed(now);
  waiting_.push_front(std::move(newcomer));
}

Time Newcomers::wake_at() const noexcept { return waiting_.empty() ? never : retry_.at(); }

std::optional<Newcomer> Newcomers::take(JobId request) noexcept {
  const auto found = std::ranges::find(deciding_, request, &Newcomer::request);
  if (found == deciding_.end()) return std::nullopt;
  Newcomer newcomer = std::move(*found);
  deciding_.erase(found);
  return newcomer;
}

bool Newcomers::refused(const sched::Refuse& refuse, Time now) noexcept {
  auto newcomer = take(refuse.job);
  if (!newcomer) return false;
  const sched::RefusalCode code = refuse.reason.code;
  if (code == sched::RefusalCode::reorganizing && now - newcomer->since < patience) {
    retry_.start(now + reorganizing_period);  // tasks are being moved for somebody else: it waits
    waiting_.push_back(std::move(*newcomer));
    return true;
  }
  // What would fit here may make somebody late there, so beside other processes nothing is proposed.
  if (code != sched::RefusalCode::not_schedulable || refuse.reason.nearest.found() || promises_.beside_others())
    turn_away(std::move(*newcomer), refuse.reason);
  else
    explaining_.push_back({std::move(*newcomer), refuse.reason});
  return true;
}

// Refusals learn what would have fitted when nothing else is to be done, or in the end without.
bool Newcomers::explain(Time now) noexcept {
  if (explaining_.empty()) return false;
  Explanation& first = explaining_.front();
  if (now - first.newcomer.since < explain_within) {
    if (std::exchange(asking_, first.newcomer.request) != first.newcomer.request)
      manager_.begin_nearest(first.newcomer.contract);
    const auto found = manager_.continue_nearest(slice);
    if (!found) return true;
    first.refusal.nearest = *found;
  }
  turn_away(std::move(first.newcomer), first.refusal);
  explaining_.pop_front();
  return true;
}

void Newcomers::turn_away(Newcomer newcomer, const sched::Refusal& refusal) noexcept {
  ++refusals_;
  newcomer.refuse(refusal);
}

void Newcomers::drop(PeerId peer) noexcept {
  if (lost_peers_.size() == remembered_peers) lost_peers_.pop_front();
  lost_peers_.push_back(peer);
  const auto drop_from = [&](auto& list) {
    for (Newcomer& newcomer : list)
      if (newcomer.owner == peer) newcomer.fail(errors::task_gone);
    std::erase_if(list, [&](const Newcomer& newcomer) { return newcomer.owner == peer; });
  };
  drop_from(waiting_);
  drop_from(deciding_);
}

void Newcomers::fail_all(Error error) noexcept {
  for (Newcomer& newcomer : waiting_) newcomer.fail(error);
  for (Newcomer& newcomer : deciding_) newcomer.fail(error);
  for (Explanation& each : explaining_) turn_away(std::move(each.newcomer), each.refusal);
  waiting_.clear(), deciding_.clear(), explaining_.clear();
}

}  // namespace corelane::dispatch
