#include "orb/dispatch/best_effort/best_effort_executor.h"

#include <utility>

#include "orb/base/minor.h"
#include "orb/dispatch/serving/serving_threads.h"
#include "orb/os/clock.h"

namespace corelane::dispatch {
namespace {

constexpr std::uint64_t one_thread = std::uint64_t{1} << 32;

}  // namespace

BestEffortExecutor::BestEffortExecutor(std::size_t capacity, BestEffortServers servers)
    : servers_(std::move(servers)), queue_(capacity) {
  sem_init(&queued_, 0, 0);
}

BestEffortExecutor::~BestEffortExecutor() {
  stop();
  sem_destroy(&queued_);
}

Pushed BestEffortExecutor::submit(JobPtr& job) noexcept {
  const Pushed pushed = queue_.push(job, best_effort);
  if (pushed == Pushed::done) token();
  if (pushed == Pushed::full) refused_.fetch_add(1, std::memory_order_relaxed);  // relaxed: a count for reports
  return pushed;
}

// Gives the token of a queued job to a thread that finishes another job, which collects it at the end, or wakes a
// thread. There is one token for each job in the queue.
void BestEffortExecutor::token() noexcept {
  std::uint64_t word = finishing_.load(std::memory_order_relaxed);  // relaxed: the exchange below checks it
  // Bound: retries only if another token or thread came in between. relaxed: the queue's lock publishes the job
  while (word >= one_thread)
    if (finishing_.compare_exchange_weak(word, word + 1, std::memory_order_relaxed)) return;
  wake();
}

// Wakes a sleeping thread. If none sleeps, calls up a replacement for a thread that waits in a nested call.
void BestEffortExecutor::wake() noexcept {
  // seq_cst: see BestEffortThreadPool::begin_wait()
  if (balance_.fetch_add(1, std::memory_order_seq_cst) < 0) {
    sem_post(&queued_);
    return;
  }
  for (const auto& pool : pools_)  // bound: the cores
    if (pool->activate_spare()) return;
}

bool BestEffortExecutor::has_unserved() const noexcept {
  return balance_.load(std::memory_order_seq_cst) > 0;  // seq_cst: as in wake()
}

bool BestEffortExecutor::step(Time) noexcept {
  JobPtr job = queue_.pop();
  if (!job) return false;
  for (Tokens left = run(std::move(job)); left > 0; --left) wake();  // bound: the queue's capacity
  return true;
}

// Runs the job. Returns the tokens of jobs that were left to this thread meanwhile.
BestEffortExecutor::Tokens BestEffortExecutor::run(JobPtr job) noexcept {
  job->run(best_effort_context(job->arrived));
  jobs_.fetch_add(1, std::memory_order_relaxed);                // relaxed: a count for reports
  finishing_.fetch_add(one_thread, std::memory_order_relaxed);  // relaxed: the queue's lock publishes jobs
  job->finish();
  job.reset();
  std::uint64_t word = finishing_.load(std::memory_order_relaxed);  // relaxed: the exchange checks it
  // Bound: as in token(). The first thread that is done takes all tokens. relaxed: as above
  while (!finishing_.compare_exchange_weak(word, (word / one_thread - 1) * one_thread, std::memory_order_relaxed)) {
  }
  return static_cast<Tokens>(word % one_thread);
}

Expected<void> BestEffortExecutor::start(const BestEffortThreadPool::Size& size) {
  ThreadPoolWork& work = *this;
  for (std::size_t i = 0; i < servers_.size(); ++i)
    pools_.push_back(std::make_unique<BestEffortThreadPool>(work, size, servers_.core(i), &servers_.server(i)));
  if (servers_.empty()) pools_.push_back(std::make_unique<BestEffortThreadPool>(work, size));
  for (const auto& pool : pools_)
    if (auto started = pool->start(); !started) return started;
  return {};
}

void BestEffortExecutor::rebind() noexcept {
  for (const auto& pool : pools_) pool->rebind();
}

// Sleeps until there is a token, or until the thread must check whether it is surplus.
void BestEffortExecutor::await(BestEffortThreadPool& pool) noexcept {
  if (balance_.fetch_sub(1, std::memory_order_seq_cst) > 0) return;  // seq_cst: as in wake()
  AperiodicServer* const server = pool.server();
  if (server) server->rest();
  if (!await_token(queued_, pool.idle_until(os::now()))) give_up_wait();
  if (server) server->work();
}

// Withdraws a wait that timed out. If the balance shows that no thread waits any more, a token is on its way to this
// thread, which takes it.
// relaxed: threads that read the count later decide by it
void BestEffortExecutor::give_up_wait() noexcept {
  std::int64_t balance = balance_.load(std::memory_order_relaxed);  // relaxed: the exchange checks it
  while (balance < 0)                                               // bound: retries only if other threads came or went
    if (balance_.compare_exchange_weak(balance, balance + 1, std::memory_order_relaxed)) return;
  await_token(queued_, never);
}

void BestEffortExecutor::take_jobs(BestEffortThreadPool& pool) noexcept {
  Tokens own = 0;
  // Bound: ends with stop(), or when the thread is surplus.
  while (own > 0 || !pool.leave_if_surplus()) {
    if (own == 0) await(pool);
    if (pool.dismissed()) return;
    JobPtr job = queue_.pop();
    own = job ? run(std::move(job)) : 0;
    for (Tokens left = own; left > 1; --left) wake();  // bound: the queue's capacity
  }
}

void BestEffortExecutor::stop() noexcept {
  queue_.close();
  for (std::size_t i = 0; i < servers_.size(); ++i) servers_.server(i).dismiss();
  for (const auto& pool : pools_) pool->dismiss();
  for (std::size_t i = own_threads(); i > 0; --i) sem_post(&queued_);
  for (const auto& pool : pools_) pool->join();
  while (const JobPtr job = queue_.pop())  // bound: the queue's capacity
    job->fail({.kind = ErrorKind::transient, .minor = minor::shutting_down});
}

std::uint64_t BestEffortExecutor::jobs() const noexcept {
  const std::uint64_t here = jobs_.load(std::memory_order_relaxed);  // relaxed: a report
  return serving_ != nullptr ? here + serving_->jobs() : here;
}

std::size_t BestEffortExecutor::threads() const noexcept {
  return own_threads() + (serving_ != nullptr ? serving_->threads() : 0);
}

std::size_t BestEffortExecutor::own_threads() const noexcept {
  std::size_t count = 0;
  for (const auto& pool : pools_) count += pool->threads();
  return count;
}

std::uint64_t BestEffortExecutor::shortages() const noexcept {
  std::uint64_t count = serving_ != nullptr ? serving_->shortages() : 0;
  for (const auto& pool : pools_) count += pool->shortages();
  return count;
}

int BestEffortExecutor::servant_limit() const noexcept { return serving_ != nullptr ? serving_->servant_limit() : 0; }

}  // namespace corelane::dispatch
