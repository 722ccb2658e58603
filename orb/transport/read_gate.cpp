#include "orb/transport/detail/read_gate.h"

#include <algorithm>
#include <utility>

#include "orb/os/clock.h"

namespace corelane::transport {

void ReadGate::limit(const sched::Reservation& reservation) noexcept {
  budget_.emplace(reservation);
  charged_ = begun_ = os::thread_cpu_time();
}

void ReadGate::Waiting::call() const {
  if (const auto waits = handler.lock()) waits->on_turn(turn);
}

bool ReadGate::defers(ReadAccount& account, const std::weak_ptr<ReadinessHandler>& handler, Turn turn) {
  if (!budget_) return false;
  Queue& queue = queue_of(account.payer);
  const Time now = os::now();
  const Time kind = budget_->readable_at(now, account.payer);
  const bool queues = kind > now || (!queue.empty() && !resuming_);
  const Time at = budget_->readable_at(now, account);
  if (!queues && at <= now) return begin(), false;
  deferred_.fetch_add(1, std::memory_order_relaxed);    // relaxed: a report
  if (!queues) return wait(at, {handler, turn}), true;  // its own budget is used up, the others' is not
  insist([&] { queue.push_back({handler, turn}); });
  if (queue.size() == 1) wait(kind, account.payer);
  return true;
}

void ReadGate::begin() noexcept {
  in_turn_ = true;
  begun_ = std::max(charged_, os::thread_cpu_time() - at_most_before_a_turn);
}

void ReadGate::charge(ReadAccount& account) noexcept {
  if (!budget_ || !std::exchange(in_turn_, false)) return;
  charged_ = os::thread_cpu_time();
  budget_->charge(os::now(), charged_ - begun_, account);
}

void ReadGate::wait(Time until, ReadPayer payer) {
  insist([&] { reactor_.schedule(until, [this, payer] { resume(payer); }); });
}

void ReadGate::wait(Time until, const Waiting& waiting) {
  insist([&] { reactor_.schedule(until, [waiting] { waiting.call(); }); });
}

// Bound: each turn is charged, and the budget ends.
void ReadGate::resume(ReadPayer payer) {
  Queue& queue = queue_of(payer);
  while (!queue.empty()) {
    const Time now = os::now();
    if (const Time at = budget_->readable_at(now, payer); at > now) return wait(at, payer);
    const Waiting first = std::move(queue.front());
    queue.pop_front();
    resuming_ = true;
    first.call();
    resuming_ = false;
  }
}

}  // namespace corelane::transport
