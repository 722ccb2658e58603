#include "orb/dispatch/tasks/task_jobs.h"

#include <array>
#include <catch2/catch.hpp>

using namespace corelane;
using namespace corelane::dispatch;

namespace {

class PlainJob final : public Job {
 public:
  void run(const JobContext&) noexcept override {}
  void refuse(const sched::Refusal&) noexcept override {}
  void fail(Error) noexcept override {}
  void recycle() noexcept override {}
};

JobContext context_of(JobId job, CoreId core = CoreId{0}) {
  JobContext context = best_effort_context({});
  context.job = job;
  context.core = core;
  return context;
}

}  // namespace

TEST_CASE("the jobs of a task wait until one is started") {
  PlainJob first, second;
  TaskJobs jobs;
  CHECK_FALSE(jobs.any());
  jobs.push(JobId{1}, JobPtr(&first));
  jobs.push(JobId{2}, JobPtr(&second));
  CHECK(jobs.waiting() == 2);
  CHECK_FALSE(jobs.is_under_way());
  jobs.make_ready(context_of(JobId{1}));
  CHECK(jobs.is_ready());
  CHECK_FALSE(jobs.is_running());
  CHECK(jobs.start().get() == &first);
  CHECK_FALSE(jobs.is_ready());
  CHECK(jobs.is_running());
  CHECK(jobs.waiting() == 1);
  jobs.end();
  CHECK_FALSE(jobs.is_under_way());
  CHECK(jobs.any());
  CHECK(jobs.take(JobId{2}).get() == &second);
  CHECK_FALSE(jobs.any());
}

TEST_CASE("jobs of a task are taken out in any order") {
  PlainJob made[3];
  TaskJobs jobs;
  for (std::uint64_t i = 0; i < 3; ++i) jobs.push(JobId{i + 1}, JobPtr(&made[i]));
  CHECK(jobs.take(JobId{2}).get() == &made[1]);
  CHECK_FALSE(jobs.take(JobId{2}));
  CHECK(jobs.take(JobId{1}).get() == &made[0]);
  CHECK(jobs.take(JobId{3}).get() == &made[2]);
}

TEST_CASE("no more jobs of a task wait than there is room for") {
  std::array<PlainJob, sched::max_waiting + 2> made;
  TaskJobs jobs;
  for (std::size_t i = 0; i < made.size(); ++i) {
    CHECK_FALSE(jobs.full());
    jobs.push(JobId{i + 1}, JobPtr(&made[i]));
  }
  CHECK(jobs.full());
  jobs.make_ready(context_of(JobId{1}));
  const JobPtr runs = jobs.start();
  CHECK_FALSE(jobs.full());
}

TEST_CASE("a job that is cancelled before it began is known to be when it starts, and the next one is not") {
  PlainJob first, second;
  TaskJobs jobs;
  jobs.push(JobId{1}, JobPtr(&first));
  jobs.push(JobId{2}, JobPtr(&second));
  jobs.make_ready(context_of(JobId{1}));
  CHECK_FALSE(jobs.cancel());
  (void)jobs.start();
  CHECK(jobs.is_cancelled());
  CHECK(jobs.cancel() == &first);
  jobs.end();
  jobs.make_ready(context_of(JobId{2}));
  (void)jobs.start();
  CHECK_FALSE(jobs.is_cancelled());
}

TEST_CASE("a job that may run when its task is moved runs on the new core, and one that runs stays where it began") {
  PlainJob job;
  TaskJobs jobs;
  jobs.push(JobId{1}, JobPtr(&job));
  jobs.make_ready(context_of(JobId{1}));
  jobs.move_to(CoreId{1});
  CHECK(jobs.context().core == CoreId{1});
  (void)jobs.start();
  jobs.move_to(CoreId{2});
  CHECK(jobs.context().core == CoreId{1});
}
