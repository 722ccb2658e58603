#include "orb/leader_followers/thread_pool.h"

#include <ace/ACE.h>
#include <ace/Event_Handler.h>
#include <ace/Init_ACE.h>
#include <ace/Reactor.h>
#include <ace/TP_Reactor.h>
#include <ace/Time_Value.h>
#include <sys/select.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <unordered_map>
#include <utility>

#include "orb/base/errors.h"
#include "orb/base/minor.h"
#include "orb/base/thread_safety.h"
#include "orb/os/clock.h"
#include "orb/os/lock.h"
#include "orb/os/pi_mutex.h"
#include "orb/os/thread.h"
#include "orb/os/threads/deferral.h"
#include "orb/os/wait/wait.h"

namespace corelane::leader_followers {
namespace {

constexpr int most_threads = 256;
constexpr Error bad_options{ErrorKind::bad_param, Completion::no, minor::bad_option};
constexpr Error no_descriptors{ErrorKind::no_resources, Completion::no, minor::no_descriptor};
constexpr Error stopped_already{ErrorKind::comm_failure, Completion::no, minor::shutting_down};
constexpr Error beyond_select{ErrorKind::imp_limit, Completion::no, minor::beyond_select};
constexpr Error registered_already{ErrorKind::bad_inv_order, Completion::no, minor::system_refused};

os::ThreadOptions thread_options(const PoolOptions& options, int index) {
  os::ThreadOptions result{.name = "corelane-lf",
                           .fifo_priority = options.fifo_priority,
                           .stack = options.stack,
                           .stack_setting = "pool.stack"};
  const std::size_t count = options.cores.size();
  if (options.placement == Placement::single_core) result.core = options.cores.front();
  const bool in_turn = options.placement == Placement::round_robin || options.placement == Placement::allocated;
  if (in_turn) result.core = options.cores[static_cast<std::size_t>(index) % count];
  return result;
}

}  // namespace

class ThreadPool::Impl {
 public:
  ~Impl() { stop(); }

  Expected<void> start(const PoolOptions& options) {
    if (reactor_.initialized() == 0) return no_descriptors;
    threads_.reserve(static_cast<std::size_t>(options.threads));  // so that push_back() cannot fail
    for (int i = 0; i < options.threads; ++i) {
      auto thread = os::start_thread(thread_options(options, i), [this, wait = options.wait] { lead(wait); });
      if (!thread) return thread.error();
      real_time_ = real_time_ && (options.fifo_priority == 0 || thread->real_time());
      threads_.push_back(std::move(*thread));
    }
    return {};
  }

  Expected<void> add(int descriptor, std::shared_ptr<ReadyHandler> handler) try {
    if (descriptor < 0 || descriptor >= carried_) return beyond_select;
    ACE_Event_Handler_var made(new AceHandler(*this, descriptor, std::move(handler)));
    {
      const os::LockGuard lock(mutex_);
      if (stopped_) return stopped_already;
      if (!entries_.emplace(descriptor, Entry{made}).second) return registered_already;
    }
    // Outside the lock: the reactor waits for its token. The token's holder may be in on_ready() and call add() or
    // remove().
    if (reactor_.register_handler(made.handler(), ACE_Event_Handler::READ_MASK) == 0) return {};
    forget(descriptor, made.handler());
    return beyond_select;
  } catch (const std::bad_alloc&) {
    return errors::no_memory;
  }

  void remove(int descriptor) {
    ACE_Event_Handler_var handler;
    {
      const os::LockGuard lock(mutex_);
      const auto place = entries_.find(descriptor);
      if (place == entries_.end() || std::exchange(place->second.leaving, true)) return;
      handler = place->second.handler;
    }
    let_go(descriptor, handler);
  }

  bool real_time() const noexcept { return real_time_; }

  void stop() noexcept {
    std::unordered_map<int, Entry> entries;
    {
      const os::LockGuard lock(mutex_);
      if (std::exchange(stopped_, true)) return;
    }
    reactor_.end_reactor_event_loop();
    threads_.clear();
    {
      const os::LockGuard lock(mutex_);
      entries.swap(entries_);
    }
    for (auto& [descriptor, entry] : entries) {
      reactor_.remove_handler(entry.handler.handler(), mask_of_removal);
      if (!entry.leaving) static_cast<AceHandler*>(entry.handler.handler())->stopping();
    }
  }

 private:
  // Initializes and ends ACE, which counts its users.
  struct Library {
    Library() { ACE::init(); }
    ~Library() { ACE::fini(); }
  };

  // AceHandler adapts a ReadyHandler to ACE. Owner: ACE and entries_, by its own reference count, because sanitizers
  // cannot see into ACE's library.
  class AceHandler final : public ACE_Event_Handler {
   public:
    AceHandler(Impl& pool, int descriptor, std::shared_ptr<ReadyHandler> handler)
        : ACE_Event_Handler(&pool.reactor_), pool_(pool), descriptor_(descriptor), handler_(std::move(handler)) {
      reference_counting_policy().value(Reference_Counting_Policy::ENABLED);
    }
    Reference_Count add_reference() override {
      return references_.fetch_add(1, std::memory_order_relaxed) + 1;  // relaxed: the caller already holds a reference
    }
    Reference_Count remove_reference() override {
      // PAIR handler.references: release here -> acquire here, by the thread that drops the last reference and deletes.
      const Reference_Count left = references_.fetch_sub(1, std::memory_order_acq_rel) - 1;
      if (left == 0) delete this;
      return left;
    }
    ACE_HANDLE get_handle() const override { return descriptor_; }
    int resume_handler() override { return ACE_APPLICATION_RESUMES_HANDLER; }
    // Returns the stream to the pool before it runs what on_ready() deferred. Never returns -1: the reactor would then
    // remove the handler that has the descriptor by then.
    int handle_input(ACE_HANDLE) override {
      os::Deferral later;
      if (handler_->on_ready())
        reactor()->resume_handler(descriptor_);
      else
        pool_.remove(descriptor_, this);
      later.run();
      return 0;
    }
    void stopping() noexcept { handler_->on_stopping(); }

   private:
    Impl& pool_;
    const int descriptor_;
    const std::shared_ptr<ReadyHandler> handler_;
    std::atomic<Reference_Count> references_{1};  // PAIR handler.references: see remove_reference()
  };

  // The registration of a descriptor. The reactor identifies handlers only by their descriptor. So an entry stays until
  // its handler is out of the reactor, and no other handler is registered meanwhile.
  struct Entry {
    ACE_Event_Handler_var handler;
    bool leaving = false;
  };

  // Runs until stop().
  void lead(os::WaitStrategy wait) noexcept {
    while (reactor_.reactor_event_loop_done() == 0) {
      const Time begun = os::now();
      const Time end = os::spin_end(wait, begun, never);
      int handled = 0;
      for (Time now = begun; now < end && handled == 0 && reactor_.reactor_event_loop_done() == 0; now = os::now()) {
        ACE_Time_Value at_once = ACE_Time_Value::zero;
        handled = std::max(0, reactor_.handle_events(at_once));  // -1: another thread is the leader
      }
      if (handled == 0 && reactor_.reactor_event_loop_done() == 0) reactor_.handle_events();
    }
  }

  // Removes the handler, unless another one has its place or another thread is removing it.
  void remove(int descriptor, ACE_Event_Handler* expected) {
    ACE_Event_Handler_var handler;
    {
      const os::LockGuard lock(mutex_);
      const auto place = entries_.find(descriptor);
      if (place == entries_.end() || place->second.handler.handler() != expected) return;
      if (std::exchange(place->second.leaving, true)) return;
      handler = place->second.handler;
    }
    let_go(descriptor, handler);
  }

  void let_go(int descriptor, const ACE_Event_Handler_var& handler) {
    reactor_.remove_handler(handler.handler(), mask_of_removal);
    forget(descriptor, handler.handler());
  }

  void forget(int descriptor, ACE_Event_Handler* handler) {
    const os::LockGuard lock(mutex_);
    const auto place = entries_.find(descriptor);
    if (place != entries_.end() && place->second.handler.handler() == handler) entries_.erase(place);
  }

  static constexpr ACE_Reactor_Mask mask_of_removal = ACE_Event_Handler::READ_MASK | ACE_Event_Handler::DONT_CALL;

  const Library library_;
  // Without signal masks around each callback, because nothing here handles signals.
  ACE_TP_Reactor tp_reactor_{nullptr, nullptr, false};
  ACE_Reactor reactor_{&tp_reactor_};
  const int carried_ = std::min(ACE::max_handles(), static_cast<int>(FD_SETSIZE));  // descriptors below this
  std::vector<os::Thread> threads_;
  bool real_time_ = true;

  os::PiMutex mutex_;
  std::unordered_map<int, Entry> entries_ CORELANE_GUARDED_BY(mutex_);  // by descriptor
  bool stopped_ CORELANE_GUARDED_BY(mutex_) = false;
};

bool ThreadPool::is_built() noexcept { return true; }

Expected<std::unique_ptr<ThreadPool>> ThreadPool::start(const PoolOptions& options) {
  if (options.threads < 1 || options.threads > most_threads) return bad_options;
  if (options.placement != Placement::unbound && options.cores.empty()) return bad_options;
  auto impl = std::make_unique<Impl>();
  if (const auto started = impl->start(options); !started) return started.error();
  return std::unique_ptr<ThreadPool>(new ThreadPool(std::move(impl)));
}

ThreadPool::ThreadPool(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
ThreadPool::~ThreadPool() = default;

Expected<void> ThreadPool::add(int descriptor, std::shared_ptr<ReadyHandler> handler) {
  return impl_->add(descriptor, std::move(handler));
}
void ThreadPool::remove(int descriptor) { impl_->remove(descriptor); }
bool ThreadPool::real_time() const noexcept { return impl_->real_time(); }
void ThreadPool::stop() noexcept { impl_->stop(); }

}  // namespace corelane::leader_followers
