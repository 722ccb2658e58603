#include "orb/dispatch/inline/inline_internal_jobs.h"

#include <utility>

#include "orb/base/errors.h"

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
  return thread_.start({.name = "cl-log", .stack = stack});
}

void InlineInternalJobs::stop() noexcept {
  queue_.close();
  thread_.stop();
  while (const JobPtr job = queue_.pop()) job->fail(errors::shutting_down);  // bound: capacity
}

}  // namespace corelane::dispatch
