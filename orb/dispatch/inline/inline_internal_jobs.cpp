#include "orb/dispatch/inline/inline_internal_jobs.h"

#include <utility>

#include "orb/base/errors.h"
#include "orb/os/clock.h"

namespace corelane::dispatch {
Pushed InlineInternalJobs::submit(JobPtr& job) noexcept {
  const Pushed pushed = queue_.push(job, best_effort);
  if (pushed == Pushed::done) parker_.unpark();
  return pushed;
}

bool InlineInternalJobs::step(Time) noexcept {
  const JobPtr job = queue_.pop();
  if (!job) return false;
  job->run(best_effort_context(job->arrived));
  job->finish();
  return true;
}

Expected<void> InlineInternalJobs::start(std::size_t stack) {
  auto thread = os::start_thread({.name = "cl-log", .stack = stack}, [this]() noexcept { loop(); });
  if (!thread) return thread.error();
  thread_ = std::move(*thread);
  return {};
}

void InlineInternalJobs::loop() noexcept {
  // Bound: ends with stop(). PAIR internal_jobs.stopping: acquire here <- release in stop().
  while (!stopping_.load(std::memory_order_acquire))
    if (!step(os::now())) parker_.park(never);
}

void InlineInternalJobs::stop() noexcept {
  queue_.close();
  // PAIR internal_jobs.stopping: release here -> acquire in loop().
  stopping_.store(true, std::memory_order_release);
  parker_.unpark();
  thread_.join();
  while (const JobPtr job = queue_.pop()) job->fail(errors::shutting_down);  // bound: capacity
}

}  // namespace corelane::dispatch
