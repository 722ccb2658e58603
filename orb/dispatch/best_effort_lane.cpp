#include "orb/dispatch/best_effort_lane.h"

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "orb/base/minor.h"

namespace corelane::dispatch {
namespace {

constexpr std::uint64_t one_thread = std::uint64_t{1} << 32;

}  // namespace

// Handed to its server before it has work. A class that the system refuses leaves it in what the tasks leave.
class BestEffortLane::PoolThread final : public ServedThread {
 public:
  void own(os::Thread thread) noexcept { thread_ = std::move(thread); }
  void set_native(int native) noexcept override { (void)thread_.set_priority(native); }
  Duration cpu_time() const noexcept override { return thread_.cpu_time(); }

 private:
  os::Thread thread_;
};

BestEffortLane::BestEffortLane(std::size_t capacity, BestEffortServers servers)
    : servers_(std::move(servers)), queue_(capacity) {
  sem_init(&queued_, 0, 0);
}

BestEffortLane::~BestEffortLane() {
  stop();
  sem_destroy(&queued_);
}

Pushed BestEffortLane::submit(JobPtr& job) noexcept {
  const Pushed pushed = queue_.push(job, best_effort);
  if (pushed == Pushed::done) token();
  return pushed;
}

// One for each job in the queue: to a thread that finishes another job, which collects it there, or to one that sleeps.
void BestEffortLane::token() noexcept {
  std::uint64_t word = finishing_.load(std::memory_order_relaxed);  // relaxed: the exchange below checks it
  // Bound: retries only when another token or thread came between. relaxed: the queue's lock publishes the job.
  while (word >= one_thread)
    if (finishing_.compare_exchange_weak(word, word + 1, std::memory_order_relaxed)) return;
  sem_post(&queued_);
}

bool BestEffortLane::step(Time) noexcept {
  JobPtr job = queue_.pop();
  if (!job) return false;
  for (Tokens left = run(std::move(job)); left > 0; --left) sem_post(&queued_);  // bound: the queue's capacity
  return true;
}

// Returns the tokens of jobs that were left to this thread meanwhile.
BestEffortLane::Tokens BestEffortLane::run(JobPtr job) noexcept {
  job->run(best_effort_context(job->arrived));
  jobs_.fetch_add(1, std::memory_order_relaxed);                // relaxed: a count for reports
  finishing_.fetch_add(one_thread, std::memory_order_relaxed);  // relaxed: the queue's lock publishes jobs
  job->finish();
  job.reset();
  std::uint64_t word = finishing_.load(std::memory_order_relaxed);  // relaxed: the exchange checks it
  // Bound: as in token(). All tokens go with the first thread that is done. relaxed: as above
  while (!finishing_.compare_exchange_weak(word, (word / one_thread - 1) * one_thread, std::memory_order_relaxed)) {
  }
  return static_cast<Tokens>(word % one_thread);
}

Expected<void> BestEffortLane::start(std::size_t threads, std::size_t stack) {
  const std::size_t groups = std::max<std::size_t>(servers_.size(), 1);
  for (std::size_t i = 0; i < groups * threads; ++i) {
    const bool served = !servers_.empty();
    const auto core = served ? std::optional(servers_.core(i / threads)) : std::nullopt;
    auto started = start_thread(stack, core, served ? &servers_.server(i / threads) : nullptr);
    if (!started) return started;
  }
  return {};
}

Expected<void> BestEffortLane::start_thread(std::size_t stack, std::optional<CoreId> core, ThreadServer* server) {
  // Its handle and the handle's place come first: whoever cannot keep a thread would have to wait for its end.
  auto handle = std::make_unique<PoolThread>();
  threads_.reserve(threads_.size() + 1);
  auto thread = os::start_thread({.name = "cl-effort-" + std::to_string(threads_.size()), .core = core, .stack = stack},
                                 [this, server]() noexcept { loop(server); });
  if (!thread) return thread.error();
  handle->own(std::move(*thread));
  threads_.push_back(std::move(handle));
  if (server) server->add(*threads_.back());
  return {};
}

// The thread sleeps until there is a token.
void BestEffortLane::await(ThreadServer* server) noexcept {
  if (sem_trywait(&queued_) == 0) return;
  if (server) server->rest();
  while (sem_wait(&queued_) != 0 && errno == EINTR) continue;
  if (server) server->work();
}

void BestEffortLane::loop(ThreadServer* server) noexcept {
  Tokens own = 0;
  if (server) server->work();
  // Bound: ends with stop().
  for (;;) {
    if (own == 0) await(server);
    // PAIR effort.stopping: acquire here <- release in stop().
    if (stopping_.load(std::memory_order_acquire)) break;
    JobPtr job = queue_.pop();
    own = job ? run(std::move(job)) : 0;
    for (Tokens left = own; left > 1; --left) sem_post(&queued_);  // bound: the queue's capacity
  }
}

void BestEffortLane::stop() noexcept {
  queue_.close();
  // PAIR effort.stopping: release here -> acquire in loop().
  stopping_.store(true, std::memory_order_release);
  for (std::size_t i = 0; i < servers_.size(); ++i) servers_.server(i).dismiss();
  for (std::size_t i = 0; i < threads_.size(); ++i) sem_post(&queued_);
  threads_.clear();                        // joins
  while (const JobPtr job = queue_.pop())  // bound: the queue's capacity
    job->fail({.kind = ErrorKind::transient, .minor = minor::shutting_down});
}

}  // namespace corelane::dispatch
