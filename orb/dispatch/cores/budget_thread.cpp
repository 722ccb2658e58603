#include "orb/dispatch/cores/budget_thread.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <utility>

#include "orb/base/minor.h"
#include "orb/os/clock.h"

namespace corelane::dispatch {
namespace {

// Returns the error for a timer or an event that could not be made, by errno.
Error none_left() noexcept {
  const bool descriptors = errno == EMFILE || errno == ENFILE;
  return {.kind = ErrorKind::no_resources, .minor = descriptors ? minor::no_descriptor : minor::no_thread};
}

}  // namespace

class BudgetThread::Timer final : public BudgetAlarm {
 public:
  Timer() : fd_(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {}

  // Makes one system call. Uses 1 ns for earlier times, because zero would disarm the timer. A time that has passed
  // fires at once.
  void set(Time at) noexcept override {
    itimerspec when{};
    if (at != never) when.it_value = os::to_timespec(std::max(at, Time{Duration{1}}));
    timerfd_settime(fd_.get(), TFD_TIMER_ABSTIME, &when, nullptr);
  }
  // Returns whether the timer fired since the last call.
  bool take() noexcept {
    std::uint64_t count = 0;
    return read(fd_.get(), &count, sizeof count) == sizeof count;
  }
  int descriptor() const noexcept { return fd_.get(); }

 private:
  const os::Fd fd_;
};

BudgetThread::BudgetThread(std::span<const std::unique_ptr<CorePool>> pools, std::vector<AperiodicServer*> servers)
    : pools_(pools), servers_(std::move(servers)) {}

BudgetThread::~BudgetThread() { stop(); }

Expected<void> BudgetThread::start(os::ThreadOptions options) {
  stop_.reset(eventfd(0, EFD_CLOEXEC));
  if (!stop_) return none_left();
  for (std::size_t i = 0; i < pools_.size() + servers_.size(); ++i) {
    timers_.push_back(std::make_unique<Timer>());
    if (timers_.back()->descriptor() < 0) return none_left();
  }
  auto thread = os::start_thread(std::move(options), [this]() noexcept { loop(); });
  if (!thread) return thread.error();
  thread_ = std::move(*thread);
  for (std::size_t i = 0; i < pools_.size(); ++i) pools_[i]->watch_budgets(timers_[i].get());
  for (std::size_t i = 0; i < servers_.size(); ++i) servers_[i]->watch(timers_[pools_.size() + i].get());
  return {};
}

void BudgetThread::stop() noexcept {
  for (const auto& pool : pools_) pool->watch_budgets(nullptr);
  for (AperiodicServer* server : servers_) server->watch(nullptr);
  const std::uint64_t one = 1;
  if (thread_.joinable()) (void)!write(stop_.get(), &one, sizeof one);
  thread_.join();
}

void BudgetThread::loop() noexcept {
  std::vector<pollfd> entries;
  for (const auto& timer : timers_) entries.push_back({.fd = timer->descriptor(), .events = POLLIN, .revents = 0});
  entries.push_back({.fd = stop_.get(), .events = POLLIN, .revents = 0});
  // Bound: ends with stop(). An interrupted poll finds nothing.
  for (;;) {
    poll(entries.data(), entries.size(), -1);
    if (entries.back().revents != 0) return;
    for (std::size_t i = 0; i < timers_.size(); ++i)
      if (timers_[i]->take()) check(i);
  }
}

void BudgetThread::check(std::size_t timer) noexcept {
  if (timer < pools_.size()) return pools_[timer]->check_budget(os::now());
  servers_[timer - pools_.size()]->check();
}

}  // namespace corelane::dispatch
