#include "orb/dispatch/internal_job.h"

#include <catch2/catch.hpp>

namespace internal_job_test {

using namespace corelane;
using namespace corelane::dispatch;

namespace {

struct Work final : InternalJob {
  using InternalJob::take;
  void run(const JobContext&) noexcept override { ++runs; }
  void recycle() noexcept override { put_back(); }

  int runs = 0;
};

}  // namespace

TEST_CASE("an internal job is under way at most once") {
  Work work;
  JobPtr job = work.take();
  REQUIRE(job);
  CHECK(job->is_internal);
  CHECK(job->arrived != Time{});
  CHECK_FALSE(work.take());
  job->run({});
  job.reset();
  CHECK(work.take());
  CHECK(work.runs == 1);
}

TEST_CASE("an internal job that was refused or failed can be taken again") {
  Work work;
  work.take()->refuse({});
  CHECK(work.take());
  work.take()->fail({});
  CHECK(work.take());
}

}  // namespace internal_job_test
