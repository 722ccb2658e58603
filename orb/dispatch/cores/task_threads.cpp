#include "orb/dispatch/cores/task_threads.h"

#include <array>
#include <atomic>
#include <new>
#include <string_view>
#include <utility>

#include "orb/base/minor.h"
#include "orb/os/lock.h"
#include "orb/os/log.h"
#include "orb/os/thread.h"
#include "orb/os/threads/deadline_class.h"
#include "orb/os/wait/wait.h"

namespace corelane::dispatch {
namespace {

constexpr char spare_name[] = "cl-spare";
constexpr std::string_view stack_setting = "pool.stack";

}  // namespace

class TaskThreads::SystemThread final : public WorkerThread {
 public:
  SystemThread(bool bound, ThreadPlacement placement) : bound_(bound), placement_(placement) {}
  ~SystemThread() override { start_->leave(); }  // what it runs finishes first; then it is joined

  // Starts the thread. This is not in the constructor, because a thread that runs needs a complete handle, which ends
  // it.
  Expected<void> start(os::ThreadOptions options) {
    auto thread = os::start_thread(std::move(options), [start = start_]() noexcept { start->run(); });
    if (!thread) return thread.error();
    thread_ = std::move(*thread);
    return {};
  }

  // Moves the thread. A refusal leaves it where it was, and the next call asks again. real_time() tells whether the
  // scheduling class was refused. Binding is not refused while a core of our own lease is there.
  bool place(ThreadPlacement placement) noexcept override { return move_to(placement); }
  bool move_to(ThreadPlacement placement) noexcept {
    if (!bound_) return true;
    if (placement_.share != os::DeadlineShare{} &&
        (placement.core != placement_.core || placement.share != placement_.share))
      leave_share(placement);
    const bool there = placement.core == placement_.core || thread_.bind(placement.core).has_value();
    const bool has_share = placement_.share != os::DeadlineShare{};
    if (placement.native != placement_.native && !has_share) (void)thread_.set_priority(placement.native);
    if (there) placement_.core = placement.core;
    placement_.native = placement.native;
    return take_share(placement.share) && there;
  }
  bool real_time() const noexcept override { return thread_.real_time(); }
  void rebind() noexcept override {
    if (bound_ && placement_.core != no_core && placement_.share == os::DeadlineShare{})
      (void)thread_.bind(placement_.core);
  }
  os::DeadlineRefusal refusal() const noexcept { return refusal_; }
  void give(std::string_view name, const WorkerPtr& worker) noexcept {
    start_->name.fill(0);
    name.copy(start_->name.data(), start_->name.size() - 1);
    start_->worker = worker;
  }
  void begin() noexcept override { start_->parker.unpark(); }

  void wait_for_end() noexcept { start_->wait_for_end(); }  // of its worker's loop()
  // Forgets the core, which may have been lost since. So the next place() binds the thread in any case.
  void forget_core() noexcept { placement_.core = no_core; }
  // Puts the thread under SCHED_OTHER while it sleeps, wherever it is bound.
  void rest() noexcept { move_to({.core = placement_.core, .native = 0}); }

 private:
  // What the thread waits for before it runs its worker. The thread and its handle share it.
  struct Start {
    void run() noexcept {
      do {  // bound: each turn is one task's life
        parker.park(never);
        if (worker) serve();
        // PAIR start.leaving: acquire here <- release in leave(). Its token may have joined one that begin() gave.
      } while (!leaving.load(std::memory_order_acquire));
    }

    void serve() noexcept {
      os::name_this_thread(name.data());
      worker->loop();
      os::leave_deadline_class();
      worker.reset();
      os::name_this_thread(spare_name);
      // PAIR start.ended: release here -> acquire in wait_for_end(). Publishes that `worker` is the handle's again.
      ended.store(true, std::memory_order_release);
      ended.notify_one();
    }

    void leave() noexcept {
      // PAIR start.leaving: release here -> acquire in run().
      leaving.store(true, std::memory_order_release);
      parker.unpark();
    }

    void wait_for_end() noexcept {
      // PAIR start.ended: acquire here <- release in run().
      ended.wait(false, std::memory_order_acquire);
      ended.store(false, std::memory_order_relaxed);  // relaxed: ordered by the parker, as `worker`
    }

    os::Parker parker;
    // Written before parker.unpark(), read by the thread after it woke.
    std::array<char, 16> name{};  // zero-terminated
    WorkerPtr worker;             // null: there is nothing to do
    std::atomic<bool> ended{false};
    std::atomic<bool> leaving{false};
  };

  // Leaves the share. This comes first, because a thread with a share is bound to its core.
  void leave_share(ThreadPlacement placement) noexcept {
    (void)thread_.set_priority(placement.native);
    placement_.native = placement.native;
    placement_.share = {};
  }
  bool take_share(const os::DeadlineShare& share) noexcept {
    if (share == placement_.share) return true;
    refusal_ = thread_.set_deadline(share);
    if (refusal_ == os::DeadlineRefusal::none) placement_.share = share;
    return refusal_ == os::DeadlineRefusal::none;
  }

  const std::shared_ptr<Start> start_ = std::make_shared<Start>();
  const bool bound_;
  ThreadPlacement placement_;  // where it is now
  os::DeadlineRefusal refusal_ = os::DeadlineRefusal::none;
  os::Thread thread_;
};

TaskThreads::TaskThreads(bool real_time, std::size_t stack, std::size_t spares)
    : real_time_(real_time), stack_(stack), wanted_(spares) {
  spares_.reserve(most_spares());
}

TaskThreads::~TaskThreads() = default;

Expected<std::unique_ptr<WorkerThread>> TaskThreads::start(const std::string& name, const WorkerPtr& worker) {
  const ThreadPlacement placement = worker->placer().placement();
  os::ThreadOptions options{.name = name, .stack = stack_, .stack_setting = stack_setting};
  if (real_time_) options.core = placement.core, options.fifo_priority = placement.native;
  auto made =
      std::make_unique<SystemThread>(real_time_, ThreadPlacement{.core = placement.core, .native = placement.native});
  if (const auto started = made->start(std::move(options)); !started) return started.error();
  if (!made->move_to(placement)) {
    os::log::warn("SCHED_DEADLINE was refused to " + name + ": " + std::string(os::text_of(made->refusal())));
    return Error{.kind = ErrorKind::no_resources, .minor = minor::no_real_time};
  }
  made->give(name, worker);
  made->begin();
  return std::unique_ptr<WorkerThread>(std::move(made));
}

std::unique_ptr<WorkerThread> TaskThreads::take(const std::string& name, const WorkerPtr& worker) noexcept {
  // The kernel judges by the core where a thread ran last, and a spare has not run on this one.
  if (worker->placer().placement().share != os::DeadlineShare{}) return nullptr;
  auto spare = take_spare();
  if (!spare) return nullptr;
  spare->forget_core();
  if (!spare->move_to(worker->placer().placement())) {  // start() reports why
    put_spare(std::move(spare));
    return nullptr;
  }
  spare->give(name, worker);
  return spare;
}

std::unique_ptr<TaskThreads::SystemThread> TaskThreads::take_spare() noexcept {
  const os::LockGuard lock(mutex_);
  if (spares_.empty()) return nullptr;
  auto spare = std::move(spares_.back());
  spares_.pop_back();
  return spare;
}

// Nothing else makes threads, so this is one of ours.
void TaskThreads::take_back(std::unique_ptr<WorkerThread> thread) noexcept {
  std::unique_ptr<SystemThread> spare(static_cast<SystemThread*>(thread.release()));
  spare->wait_for_end();
  put_spare(std::move(spare));
}

// A spare that is not needed ends here, after the lock is released.
void TaskThreads::put_spare(std::unique_ptr<SystemThread> spare) noexcept {
  spare->rest();
  const os::LockGuard lock(mutex_);
  if (spares_.size() < most_spares()) spares_.push_back(std::move(spare));
}

// Makes one spare at a time, so that orders are done in between. If the system gives no thread here, it gives none to a
// new task either, and the new task is told.
bool TaskThreads::refill() noexcept try {
  if (spares() >= wanted_) return false;
  auto spare = std::make_unique<SystemThread>(real_time_, ThreadPlacement{});
  if (!spare->start({.name = spare_name, .stack = stack_, .stack_setting = stack_setting})) return false;
  put_spare(std::move(spare));
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

std::size_t TaskThreads::spares() const noexcept {
  const os::LockGuard lock(mutex_);
  return spares_.size();
}

}  // namespace corelane::dispatch
