#include "orb/dispatch/idle_threads.h"

#include <atomic>
#include <chrono>
#include <utility>

#include "orb/os/clock.h"
#include "orb/os/log.h"
#include "orb/os/thread.h"
#include "orb/os/wait.h"

namespace corelane::dispatch {
namespace {

// Between two questions whether the core is this process's alone, while an early job waits for that.
constexpr Duration patience = std::chrono::milliseconds{10};

}  // namespace

class IdleThreads::Watcher final : public IdleWatch {
 public:
  Watcher(CorePool& pool, int physical_core, CoreProvider& provider)
      : pool_(pool), physical_core_(physical_core), provider_(provider) {}
  ~Watcher() override { stop(); }

  Expected<void> start(os::ThreadOptions options) {
    auto thread = os::start_thread(std::move(options), [this]() noexcept { loop(); });
    if (!thread) return thread.error();
    thread_ = std::move(*thread);
    return {};
  }
  bool real_time() const noexcept { return thread_.real_time(); }
  void stop() noexcept {
    // PAIR watcher.stopping: release here -> acquire in loop().
    stopping_.store(true, std::memory_order_release);
    parker_.unpark();
    thread_.join();
  }
  void look() noexcept override { parker_.unpark(); }

 private:
  void loop() noexcept {
    Time next = never;
    // Bound: ends with stop(). PAIR watcher.stopping: acquire here <- release in stop().
    while (!stopping_.load(std::memory_order_acquire)) {
      parker_.park(next);
      next = step(os::now());
    }
  }
  Time step(Time now) noexcept {
    if (!pool_.has_early_jobs(now)) return never;
    if (!provider_.alone_on(physical_core_)) return now + patience;
    return pool_.start_early(now);
  }

  CorePool& pool_;
  const int physical_core_;
  CoreProvider& provider_;
  os::Parker parker_;
  std::atomic<bool> stopping_{false};
  os::Thread thread_;
};

IdleThreads::IdleThreads(std::span<const std::unique_ptr<CorePool>> pools, std::span<const CoreLease> leases,
                         CoreProvider& provider)
    : pools_(pools) {
  for (std::size_t i = 0; i < pools.size(); ++i)
    watchers_.push_back(std::make_unique<Watcher>(*pools[i], leases[i].physical_core, provider));
}

IdleThreads::~IdleThreads() { stop(); }

// Not for cores under SCHED_DEADLINE: a thread whose budget is used up is not ready there, and its job pending.
Expected<void> IdleThreads::start(const Options& options) {
  for (std::size_t i = 0; i < pools_.size(); ++i) {
    if (pools_[i]->order() == sched::CoreOrder::served) continue;
    os::ThreadOptions thread{.name = "cl-idle", .stack = options.stack};
    thread.core = pools_[i]->core();
    thread.fifo_priority = options.native;
    if (auto started = watchers_[i]->start(std::move(thread)); !started) return started;
    if (!watchers_[i]->real_time()) {  // its running would prove nothing
      stop();
      os::log::warn("pool.early_jobs does nothing: this process may not use SCHED_FIFO");
      return {};
    }
    pools_[i]->watch_idleness(watchers_[i].get(), options.share);
  }
  return {};
}

void IdleThreads::stop() noexcept {
  for (std::size_t i = 0; i < pools_.size(); ++i) {
    pools_[i]->watch_idleness(nullptr, 0);
    watchers_[i]->stop();
  }
}

}  // namespace corelane::dispatch
