#include "orb/core/chains/wire_chain.h"

#include <sys/random.h>

#include <array>
#include <string>
#include <utility>

#include "orb/base/minor.h"
#include "orb/base/thread_safety.h"
#include "orb/base/thread_value.h"
#include "orb/core/chains/inside_servant.h"
#include "orb/core/exception.h"
#include "orb/dispatch/current.h"
#include "orb/os/lock.h"
#include "orb/os/pi_mutex.h"

namespace corelane::core {
namespace {

constexpr Error chain_full{ErrorKind::imp_limit, Completion::no, minor::chain_too_deep};

// Null in a thread that is about to end.
os::Doorbell* bell_of_thread() noexcept { return thread_value<os::Doorbell>(); }

// Returns a random number that cannot be guessed; 0 if the system provides none. One system call for each 32 numbers.
std::uint64_t draw_number() noexcept {
  thread_local std::array<std::uint64_t, 32> drawn;
  thread_local std::size_t left = 0;
  if (left == 0) {
    if (getrandom(drawn.data(), sizeof drawn, 0) != static_cast<ssize_t>(sizeof drawn)) return 0;
    left = drawn.size();
  }
  return std::exchange(drawn[--left], 0);
}

TaskId task_here() noexcept {
  const dispatch::CurrentJob* job = dispatch::current_job();
  return job != nullptr ? job->context.task : no_task;
}

// A thread that serves no request belongs to the application. Call-backs run on the server's threads then.
bool serves_somebody() noexcept { return task_here() != no_task || inside_request(); }

}  // namespace

void inherit_chain(giop::ChainContext& waits) noexcept {
  waits.count = 0;
  if (const giop::ChainContext* served = ServedChain::current(); served != nullptr) waits = *served;
}

[[gnu::hot]] std::uint64_t extend_chain(giop::ChainContext& waits) {
  if (!serves_somebody()) return 0;
  if (os::Doorbell* const bell = bell_of_thread(); bell == nullptr || !bell->open()) return 0;
  const std::uint64_t number = draw_number();
  if (number != 0 && !waits.push(number))
    raise(chain_full, "calls that call each other back may be nested " + std::to_string(waits.most) + " deep");
  return number;
}

struct RemoteCallbackWait::Bucket {
  void remove(RemoteCallbackWait& wait) noexcept CORELANE_REQUIRES(mutex);

  os::PiMutex mutex;
  RemoteCallbackWait* first CORELANE_GUARDED_BY(mutex) = nullptr;
};

// RequestBack runs a request inside the request that the thread serves. The peer that gets its answer may call back
// again at once.
class RemoteCallbackWait::RequestBack final : public CallBack {
 public:
  RequestBack(RemoteCallbackWait& wait, dispatch::Job& job) : wait_(wait), job_(job) {}
  void run() noexcept override {
    const dispatch::CurrentJob* current = dispatch::current_job();
    job_.run(current != nullptr ? current->context : dispatch::best_effort_context(job_.arrived));
    wait_.await_next();
    job_.finish();
  }

 private:
  RemoteCallbackWait& wait_;
  dispatch::Job& job_;
};

RemoteCallbackWait::Bucket& RemoteCallbackWait::bucket_of(std::uint64_t number) noexcept {
  static std::array<Bucket, 64> buckets;
  return buckets[number % buckets.size()];
}

RemoteCallbackWait::RemoteCallbackWait(std::uint64_t number, PendingReply& reply) noexcept
    : number_(number), task_(task_here()), serves_(ChainedCall::current()), reply_(reply), bell_(*bell_of_thread()) {
  Bucket& bucket = bucket_of(number_);
  const os::LockGuard lock(bucket.mutex);
  next_ = std::exchange(bucket.first, this);
}

RemoteCallbackWait::~RemoteCallbackWait() {
  while (dispatch::JobPtr job = next(true)) run(std::move(job));  // bound: the call-backs until it is unlinked
}

// Does nothing if the wait was removed before.
void RemoteCallbackWait::Bucket::remove(RemoteCallbackWait& wait) noexcept {
  if (!std::exchange(wait.linked_, false)) return;
  RemoteCallbackWait** at = &first;
  while (*at != &wait) at = &(*at)->next_;  // bound: the waiting threads of a bucket
  *at = wait.next_;
}

bool RemoteCallbackWait::accepts(TaskId task) const noexcept {
  if (task == no_task || task == task_) return true;
  return serves_ != nullptr && serves_->is_within(task);
}

bool RemoteCallbackWait::take(dispatch::JobPtr& job) noexcept {
  if (!accepts(job->task)) return false;
  if (job->task == no_task && (busy_ || !posted_.empty())) return false;
  posted_.push_back(std::move(job));
  // PAIR remote_callback_wait.called: release here -> acquire in is_called(). The mutex orders the published data, too.
  called_.store(true, std::memory_order_release);
  bell_.ring();
  reply_.interrupt();
  return true;
}

bool RemoteCallbackWait::offer(std::span<const std::uint64_t> waits, dispatch::JobPtr& job) noexcept {
  for (auto number = waits.rbegin(); number != waits.rend(); ++number) {  // bound: ChainContext::most
    Bucket& bucket = bucket_of(*number);
    const os::LockGuard lock(bucket.mutex);
    RemoteCallbackWait* wait = bucket.first;
    while (wait != nullptr && wait->number_ != *number) wait = wait->next_;  // bound: as in remove()
    if (wait != nullptr && wait->take(job)) return true;
  }
  return false;
}

bool RemoteCallbackWait::is_called() const noexcept {
  // PAIR remote_callback_wait.called: acquire here <- release in take().
  return called_.load(std::memory_order_acquire);
}

void RemoteCallbackWait::serve() noexcept {
  while (dispatch::JobPtr job = next(false)) run(std::move(job));  // bound: the call-backs
}

// Returns the next call-back, or null if there is none. If the wait is `over`, null also means that none will come.
dispatch::JobPtr RemoteCallbackWait::next(bool over) noexcept {
  Bucket& bucket = bucket_of(number_);
  const os::LockGuard lock(bucket.mutex);
  dispatch::JobPtr job = posted_.pop_front();
  called_.store(!posted_.empty(), std::memory_order_relaxed);  // relaxed: under the mutex
  busy_ = job != nullptr;
  if (!job && over) bucket.remove(*this);
  return job;
}

void RemoteCallbackWait::run(dispatch::JobPtr job) noexcept {
  RequestBack work(*this, *job);
  if (!ChainedCall::call_back(job->task, work)) work.run();
}

void RemoteCallbackWait::await_next() noexcept {
  const os::LockGuard lock(bucket_of(number_).mutex);
  busy_ = false;
}

}  // namespace corelane::core
