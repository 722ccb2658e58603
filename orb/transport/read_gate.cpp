#include "orb/transport/detail/read_gate.h"

#include <utility>

#include "orb/os/clock.h"

namespace corelane::transport {

void ReadGate::limit(const sched::Reservation& reservation) noexcept {
  budget_.emplace(reservation);
  charged_ = os::thread_cpu_time();
}

bool ReadGate::defers(ReadAccount& account, const std::weak_ptr<ReadinessHandler>& handler) {
  if (!budget_) return false;
  Queue& queue = queue_of(account.payer);
  const Time now = os::now();
  const Time kind = budget_->readable_at(now, account.payer);
  const bool queues = kind > now || (!queue.empty() && !resuming_);
  const Time at = budget_->readable_at(now, account);
  if (!queues && at <= now) return false;
  deferred_.fetch_add(1, std::memory_order_relaxed);  // relaxed: a report
  if (!queues) return wait(at, handler), true;        // its own budget is used up, the others' is not
  insist([&] { queue.push_back(handler); });
  if (queue.size() == 1) wait(kind, account.payer);
  return true;
}

void ReadGate::charge(ReadAccount& account) noexcept {
  if (!budget_) return;
  const Duration total = os::thread_cpu_time();
  budget_->charge(os::now(), total - std::exchange(charged_, total), account);
}

void ReadGate::wait(Time until, ReadPayer payer) {
  insist([&] { reactor_.schedule(until, [this, payer] { resume(payer); }); });
}

void ReadGate::wait(Time until, const std::weak_ptr<ReadinessHandler>& handler) {
  insist([&] {
    reactor_.schedule(until, [handler] {
      if (const auto waits = handler.lock()) waits->on_read_turn();
    });
  });
}

// Bound: each turn is charged, and the budget ends.
void ReadGate::resume(ReadPayer payer) {
  Queue& queue = queue_of(payer);
  while (!queue.empty()) {
    const Time now = os::now();
    if (const Time at = budget_->readable_at(now, payer); at > now) return wait(at, payer);
    const auto first = queue.front().lock();
    queue.pop_front();
    resuming_ = true;
    if (first) first->on_read_turn();
    resuming_ = false;
  }
}

}  // namespace corelane::transport
