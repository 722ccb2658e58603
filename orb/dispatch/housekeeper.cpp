#include "orb/dispatch/housekeeper.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

#include "orb/base/errors.h"

namespace corelane::dispatch {
namespace {

using errors::no_memory;

}  // namespace

void Housekeeper::start(std::string name, WorkerPtr worker) {
  auto order = std::make_unique<Order>();
  order->starts = true;
  order->name = std::move(name);
  order->worker = std::move(worker);
  give(std::move(order));
}

void Housekeeper::adopt(WorkerPtr worker, std::unique_ptr<WorkerThread> thread) {
  auto order = std::make_unique<Order>();
  order->adopted = true;
  order->worker = std::move(worker);
  order->thread = std::move(thread);
  give(std::move(order));
}

void Housekeeper::retire(WorkerPtr worker) {
  auto order = std::make_unique<Order>();
  order->starts = false;
  order->worker = std::move(worker);
  give(std::move(order));
}

void Housekeeper::give(std::unique_ptr<Order> order) noexcept {
  {
    const std::lock_guard lock(mutex_);
    orders_.push_back(std::move(order));
  }
  parker_.unpark();
}

Time Housekeeper::wake_at() const noexcept {
  Time next = next_maintenance_;
  for (const Chore& chore : chores_) next = std::min(next, chore.next);
  return next;
}

bool Housekeeper::step(Time now) noexcept {
  std::erase_if(graves_, [](const WorkerPtr& worker) { return worker.use_count() == 1; });
  if (now >= next_maintenance_) {
    next_maintenance_ = now + period;
    provider_.maintain();
  }
  for (Chore& chore : chores_) {
    if (now < chore.next) continue;
    chore.next = now + chore.every;
    (void)chore.agent->step(now);
  }
  if (!order_) {
    const std::lock_guard lock(mutex_);
    order_ = orders_.pop_front();
  }
  if (!order_) return maker_.refill();
  if (order_->thread && !take_over(*order_)) return false;  // once more at the next step, before any other order
  const std::unique_ptr<Order> order = std::move(order_);
  if (order->adopted) return true;
  order->starts ? begin_thread(*order) : end_thread(order->worker);
  return true;
}

// False: no memory for its place.
bool Housekeeper::take_over(Order& order) noexcept try {
  threads_[order.worker] = std::move(order.thread);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

void Housekeeper::begin_thread(const Order& order) noexcept {
  const auto thread = start_thread(order);
  if (!thread) {
    threads_.erase(order.worker);
    return inbox_.push(ThreadFailed{.task = order.worker->task(), .error = thread.error()});
  }
  order.worker->attach(*thread);
  inbox_.push(ThreadStarted{.task = order.worker->task(), .real_time = (*thread)->real_time()});
}

// Its place is taken first: a thread that runs has one.
Expected<WorkerThread*> Housekeeper::start_thread(const Order& order) noexcept try {
  std::unique_ptr<WorkerThread>& place = threads_[order.worker];
  auto thread = maker_.start(order.name, order.worker);
  if (!thread) return thread.error();
  place = std::move(*thread);
  return place.get();
} catch (const std::bad_alloc&) {
  return no_memory;
}

void Housekeeper::end_thread(const WorkerPtr& worker) noexcept {
  worker->retire();
  worker->attach(nullptr);
  threads_.erase(worker);  // joins
  try {
    graves_.push_back(worker);
  } catch (const std::bad_alloc&) {  // then whoever lets go of it last frees it
  }
}

void Housekeeper::close() noexcept {
  // Bound: the orders left; nobody gives new ones.
  while (step(Time{})) continue;
  if (order_) {  // a thread for which there was no place
    order_->worker->retire();
    order_->worker->attach(nullptr);
    order_.reset();  // joins
  }
  for (auto& [worker, thread] : threads_) worker->retire();
  for (auto& [worker, thread] : threads_) worker->attach(nullptr);
  threads_.clear();  // joins
  graves_.clear();
}

}  // namespace corelane::dispatch
