#include "orb/dispatch/cores/housekeeper.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include "orb/base/errors.h"
#include "orb/os/lock.h"

namespace corelane::dispatch {
namespace {

// Periodic work is due at multiples of this since the first step, so that one wake-up serves several agents.
constexpr Duration grid = std::chrono::milliseconds{50};

}  // namespace

Housekeeper::Housekeeper(ThreadMaker& maker, CoreProvider& provider, NoteInbox& inbox, std::size_t max_tasks)
    : maker_(maker),
      provider_(provider),
      inbox_(inbox),
      maintenance_(provider),
      periodic_agents_{{.agent = &maintenance_, .every = period}} {
  threads_.reserve(max_tasks);
  threads_.max_load_factor(1e9F);  // an insertion allocates nothing
  retired_.reserve(max_tasks);
}

Housekeeper::Orders Housekeeper::orders_for(std::string name, const WorkerPtr& worker) {
  Threads place;
  place.emplace(worker, nullptr);
  Orders orders{.begin = std::make_unique<Order>(), .end = std::make_unique<Order>()};
  orders.begin->name = std::move(name);
  orders.begin->worker = orders.end->worker = worker;
  orders.begin->place = place.extract(place.begin());
  return orders;
}

void Housekeeper::start(OrderPtr begin) noexcept { give(std::move(begin)); }

std::unique_ptr<WorkerThread> Housekeeper::take(const Order& begin) noexcept {
  return maker_.take(begin.name, begin.worker);
}

void Housekeeper::adopt(OrderPtr begin, std::unique_ptr<WorkerThread> thread) noexcept {
  begin->kind = Order::Kind::adopt;
  begin->thread = std::move(thread);
  give(std::move(begin));
}

void Housekeeper::retire(OrderPtr end) noexcept {
  end->kind = Order::Kind::retire;
  give(std::move(end));
}

void Housekeeper::give(OrderPtr order) noexcept {
  {
    const os::LockGuard lock(mutex_);
    orders_.push_back(std::move(order));
  }
  bell_.unpark();
}

Housekeeper::OrderPtr Housekeeper::next_order() noexcept {
  const os::LockGuard lock(mutex_);
  return orders_.pop_front();
}

// Returns the next time on the grid. It is later than `now`, although `every` may be shorter than the grid.
Time Housekeeper::next_after(Time now, Duration every) noexcept {
  if (began_ == never) began_ = now;
  const Duration next = now - began_ + every;
  const Time on_grid = began_ + (next - next % grid);
  return on_grid > now ? on_grid : now + every;
}

Time Housekeeper::wake_at() const noexcept {
  if (sleeps_until_ != never) return sleeps_until_;
  Time next = never;
  for (const PeriodicAgent& each : periodic_agents_)
    if (!is_quiet_ || !each.looked) next = std::min(next, each.next);
  return next;
}

bool Housekeeper::step(Time now) noexcept {
  std::erase_if(retired_, [](const WorkerPtr& worker) { return worker.use_count() == 1; });
  OrderPtr order = next_order();
  if (bell_.take_events() || order) end_sleep();
  if (order) carry_out(*order);  // first, because a thread that begins leaves no time to sleep
  if (sleeps_until_ == never || now >= sleeps_until_) {
    do_periodic_work(now);
    try_to_sleep(now);
  }
  return order || maker_.refill();
}

void Housekeeper::do_periodic_work(Time now) noexcept {
  for (PeriodicAgent& each : periodic_agents_) {
    if (now < each.next) continue;
    each.next = next_after(now, each.every);
    each.looked = !each.agent->step(now);  // otherwise it looks again when it is due
  }
}

void Housekeeper::keep(Agent& agent, Duration every) { periodic_agents_.push_back({.agent = &agent, .every = every}); }

void Housekeeper::sleep_when_idle(std::string directory, std::function<bool()> is_idle) {
  directory_ = std::move(directory);
  is_idle_ = std::move(is_idle);
  (void)bell_.watch({&directory_, 1});  // before the first looks, so that they need not be repeated
}

void Housekeeper::end_sleep() noexcept {
  is_quiet_ = false;
  sleeps_until_ = never;
  for (PeriodicAgent& each : periodic_agents_) each.looked = false;
  bell_.set_resting(false);
}

// Sleeps when the step() of each agent has returned false since the last event, and since the watch of the directory
// began. An event does not step an agent at once: that happens when the agent is due again.
void Housekeeper::try_to_sleep(Time now) noexcept {
  if (!is_idle_ || !has_nothing_to_do()) return end_sleep();
  if (!bell_.watches() && !try_to_watch(now)) return end_sleep();
  is_quiet_ = true;
  bell_.set_resting(true);
  sleeps_until_ = all_looked() ? now + longest_sleep : never;
}

bool Housekeeper::all_looked() const noexcept {
  return std::ranges::all_of(periodic_agents_, [](const PeriodicAgent& each) { return each.looked; });
}

// After a failure it waits for `between_watches`, because inotify may be unavailable for a long time. All agents are
// due at once when the watch begins, because nobody told them what had happened before.
bool Housekeeper::try_to_watch(Time now) noexcept {
  if (now < next_watch_) return false;
  next_watch_ = now + between_watches;
  if (!bell_.watch({&directory_, 1})) return false;
  for (PeriodicAgent& each : periodic_agents_) each.next = now, each.looked = false;
  return true;
}

bool Housekeeper::has_nothing_to_do() noexcept {
  return threads_.empty() && retired_.empty() && provider_.is_settled() && is_idle_();
}

void Housekeeper::carry_out(Order& order) noexcept {
  switch (order.kind) {
    case Order::Kind::start:
      return begin_thread(order);
    case Order::Kind::adopt:
      return keep_thread(order, std::move(order.thread));
    case Order::Kind::retire:
      return end_thread(order.worker);
  }
}

void Housekeeper::begin_thread(Order& order) noexcept {
  auto made = make_thread(order);
  if (!made) return inbox_.push(ThreadFailed{.task = order.worker->task(), .error = made.error()});
  WorkerThread& thread = **made;
  keep_thread(order, std::move(*made));
  order.worker->placer().attach(&thread);
  inbox_.push(ThreadStarted{.task = order.worker->task(), .real_time = thread.real_time()});
}

Expected<std::unique_ptr<WorkerThread>> Housekeeper::make_thread(const Order& order) noexcept try {
  return maker_.start(order.name, order.worker);
} catch (const std::bad_alloc&) {
  return errors::no_memory;
}

void Housekeeper::keep_thread(Order& order, std::unique_ptr<WorkerThread> thread) noexcept {
  order.place.mapped() = std::move(thread);
  threads_.insert(std::move(order.place));
}

void Housekeeper::end_thread(const WorkerPtr& worker) noexcept {
  worker->retire();
  worker->placer().attach(nullptr);
  if (auto place = threads_.extract(worker)) maker_.take_back(std::move(place.mapped()));
  try {
    retired_.push_back(worker);
  } catch (const std::bad_alloc&) {  // then the thread that drops the last reference frees the worker
  }
}

void Housekeeper::rebind_threads() noexcept {
  for (auto& [worker, thread] : threads_) worker->placer().rebind();
}

// Carries out the remaining orders, except `start`: a thread that does not exist yet is not started only to end. Bound:
// the remaining orders; no thread gives new ones.
void Housekeeper::close() noexcept {
  while (const OrderPtr order = next_order())
    if (order->kind != Order::Kind::start) carry_out(*order);
  for (auto& [worker, thread] : threads_) worker->retire();
  for (auto& [worker, thread] : threads_) worker->placer().attach(nullptr);
  threads_.clear();  // joins
  retired_.clear();
}

}  // namespace corelane::dispatch
