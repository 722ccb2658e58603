#include "orb/dispatch/cores/idle_threads.h"

#include <chrono>
#include <utility>

#include "orb/base/agent.h"
#include "orb/os/log.h"
#include "orb/os/thread.h"
#include "orb/os/wait/agent_thread.h"

namespace corelane::dispatch {
namespace {

// The time between two checks whether only this process uses the core, while an early job waits for that.
constexpr Duration patience = std::chrono::milliseconds{10};

}  // namespace

class IdleThreads::Watcher final : public IdleWatch, public Agent {
 public:
  Watcher(CorePool& pool, int physical_core, CoreProvider& provider)
      : pool_(pool), physical_core_(physical_core), provider_(provider) {}

  os::AgentThread<Watcher>& thread() noexcept { return thread_; }
  void look() noexcept override { parker_.unpark(); }

  bool step(Time now) noexcept override {
    if (!pool_.has_early_jobs(now))
      wake_at_ = never;
    else
      wake_at_ = is_there() && provider_.alone_on(physical_core_) ? pool_.start_early(now) : now + patience;
    return false;
  }
  Time wake_at() const noexcept { return wake_at_; }
  os::Parker& parker() noexcept { return parker_; }

 private:
  // Binds this thread to its core again, because the kernel unbinds it if the core is lost. Returns whether that
  // worked: only then does its running say something about that core.
  bool is_there() const noexcept { return os::bind_this_thread(pool_.core()).has_value(); }

  CorePool& pool_;
  const int physical_core_;
  CoreProvider& provider_;
  os::Parker parker_;
  Time wake_at_ = never;  // owner: its thread
  os::AgentThread<Watcher> thread_{*this};
};

IdleThreads::IdleThreads(std::span<const std::unique_ptr<CorePool>> pools, std::span<const CoreLease> leases,
                         CoreProvider& provider)
    : pools_(pools) {
  for (std::size_t i = 0; i < pools.size(); ++i)
    watchers_.push_back(std::make_unique<Watcher>(*pools[i], leases[i].physical_core, provider));
}

IdleThreads::~IdleThreads() { stop(); }

// Starts no thread for cores under SCHED_DEADLINE. There a job may be pending although its thread is not ready, because
// the thread's budget is used up.
Expected<void> IdleThreads::start(const Options& options) {
  for (std::size_t i = 0; i < pools_.size(); ++i) {
    if (pools_[i]->order() == sched::CoreOrder::served) continue;
    os::ThreadOptions thread{.name = "cl-idle", .stack = options.stack};
    thread.core = pools_[i]->core();
    thread.fifo_priority = options.native;
    if (auto started = watchers_[i]->thread().start(std::move(thread)); !started) return started;
    if (!watchers_[i]->thread().real_time()) {  // its running would prove nothing
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
    watchers_[i]->thread().stop();
  }
}

}  // namespace corelane::dispatch
