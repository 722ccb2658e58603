#include "orb/transport/detail/read_gate.h"

#include <algorithm>
#include <utility>

#include "orb/base/peer.h"
#include "orb/os/clock.h"

namespace corelane::transport {

void ReadGate::limit(const sched::Reservation& reservation, ReadLimit what, sched::ReaderServer kind) noexcept {
  budget_.emplace(reservation, what, kind);
  charged_ = begun_ = os::thread_cpu_time();
}

std::size_t ReadGate::bytes_per_read(std::size_t rest) const noexcept {
  if (!budget_) return std::size_t(-1);
  return limits(ReadLimit::everything) ? bytes_per_turn : std::max(rest, bytes_of_messages);
}

bool ReadGate::has_to_wait(ReadAccount& account) noexcept {
  if (!limits(ReadLimit::unforeseen) || budget_->is_exempt(account)) return false;
  const Time now = os::now();
  return budget_->readable_at(now, account) > now;
}

void ReadGate::Waiting::call() const {
  if (const auto waits = handler.lock()) waits->on_turn(turn);
}

void ReadGate::Queue::push(PeerId peer, const Waiting& waiting) {
  auto at = std::find_if(peers_.begin(), peers_.end(), [&](const Peer& p) { return same_holder(p.peer, peer); });
  if (at != peers_.end()) return at->waiting.push_back(waiting);
  peers_.push_back({peer, {waiting}});
}

ReadGate::Waiting ReadGate::Queue::pop() noexcept {
  Peer& first = peers_.front();
  Waiting waiting = std::move(first.waiting.front());
  first.waiting.pop_front();
  first.waiting.empty() ? peers_.pop_front() : peers_.splice(peers_.end(), peers_, peers_.begin());
  return waiting;
}

bool ReadGate::defers(ReadAccount& account, const std::weak_ptr<ReadinessHandler>& handler, Turn turn) {
  if (!budget_) return false;
  const Time now = os::now();
  if (budget_->is_exempt(account)) return begin(now, account), false;
  const ReadShare share = budget_->share_of(account);
  Queue& queue = queue_of(share);
  const Time kind = budget_->readable_at(now, share);
  const bool queues = kind > now || (!queue.empty() && !resuming_);
  const Time at = budget_->readable_at(now, account);
  if (!queues && at <= now) return begin(now, account), false;
  deferred_.fetch_add(1, std::memory_order_relaxed);    // relaxed: a report
  if (!queues) return wait(at, {handler, turn}), true;  // its own budget is used up, that of the others is not
  insist([&] { queue.push(account.peer, {handler, turn}); });
  if (queue.has_one()) wait(kind, share);
  return true;
}

// Begins a turn. If the turn will probably cost nothing, it does not read the processor time.
void ReadGate::begin(Time now, const ReadAccount& account) noexcept {
  in_turn_ = true;
  begun_at_ = now;
  timed_ = !budget_->is_exempt(account);
  if (timed_) begun_ = std::max(charged_, os::thread_cpu_time() - at_most_before_a_turn);
}

void ReadGate::charge(ReadAccount& account, const ReadTurn& turn) noexcept {
  if (!budget_ || !std::exchange(in_turn_, false)) return;
  const Time now = os::now();
  Duration used = now - begun_at_;
  if (timed_) {
    charged_ = os::thread_cpu_time();
    used = charged_ - begun_;
  }
  budget_->charge(now, used, account, turn);
}

void ReadGate::wait(Time until, ReadShare share) {
  insist([&] { reactor_.schedule(until, [this, share] { resume(share); }); });
}

void ReadGate::wait(Time until, const Waiting& waiting) {
  insist([&] { reactor_.schedule(until, [waiting] { waiting.call(); }); });
}

// Bound: each turn is charged, and the budget ends.
void ReadGate::resume(ReadShare share) {
  Queue& queue = queue_of(share);
  while (!queue.empty()) {
    const Time now = os::now();
    if (const Time at = budget_->readable_at(now, share); at > now) return wait(at, share);
    const Waiting first = queue.pop();
    resuming_ = true;
    first.call();
    resuming_ = false;
  }
}

}  // namespace corelane::transport
