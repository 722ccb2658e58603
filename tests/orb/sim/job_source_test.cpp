#include "orb/sim/job_source.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

namespace job_source_test {

using namespace corelane;
using namespace corelane::sim;
using namespace std::chrono_literals;

namespace {

using Patterns = std::vector<JobPattern>;

std::vector<JobRelease> first_jobs(JobSource& source, std::size_t task, int count) {
  std::vector<JobRelease> jobs;
  for (int i = 0; i < count; ++i) jobs.push_back(source.next(task).value());
  return jobs;
}

std::vector<Duration> nominal_times(const std::vector<JobRelease>& jobs) {
  std::vector<Duration> times;
  for (const JobRelease& job : jobs) times.push_back(job.nominal.time_since_epoch());
  return times;
}

}  // namespace

TEST_CASE("a periodic pattern releases jobs from its offset on, once per period") {
  PatternJobs source(Patterns{{.period = 10ms, .demand = 1ms}, {.period = 7ms, .offset = 3ms, .demand = 2ms}});
  CHECK(nominal_times(first_jobs(source, 0, 3)) == std::vector<Duration>{0ms, 10ms, 20ms});
  const auto jobs = first_jobs(source, 1, 3);
  CHECK(nominal_times(jobs) == std::vector<Duration>{3ms, 10ms, 17ms});
  CHECK(jobs[0] == JobRelease{.nominal = Time{3ms}, .demand = 2ms});
}

TEST_CASE("a sporadic pattern has gaps from the period to the longest one") {
  PatternJobs source(Patterns{{.period = 10ms, .extra_gap = 5ms}});
  const auto times = nominal_times(first_jobs(source, 0, 2000));
  Duration shortest = 1h;
  Duration longest{};
  for (std::size_t i = 1; i < times.size(); ++i) {
    shortest = std::min(shortest, times[i] - times[i - 1]);
    longest = std::max(longest, times[i] - times[i - 1]);
  }
  CHECK(shortest >= 10ms);
  CHECK(shortest < 10ms + 50us);
  CHECK(longest <= 15ms);
  CHECK(longest > 15ms - 50us);
}

TEST_CASE("a bursty pattern releases several jobs in each period") {
  PatternJobs source(Patterns{{.period = 100ms, .burst = 3, .burst_gap = 2ms}});
  CHECK(nominal_times(first_jobs(source, 0, 7)) == std::vector<Duration>{0ms, 2ms, 4ms, 100ms, 102ms, 104ms, 200ms});
}

TEST_CASE("jitter delays jobs, and leaves their nominal releases") {
  PatternJobs source(Patterns{{.period = 10ms, .jitter = 1ms}});
  const auto jobs = first_jobs(source, 0, 1000);
  CHECK(jobs.back().nominal == Time{9990ms});
  CHECK(std::all_of(jobs.begin(), jobs.end(),
                    [](const JobRelease& job) { return job.delay >= 0ms && job.delay <= 1ms; }));
  CHECK(std::any_of(jobs.begin(), jobs.end(), [](const JobRelease& job) { return job.delay > 900us; }));
}

TEST_CASE("the jobs of a task depend on the seed, not on what other tasks were asked for") {
  const Patterns patterns(2, JobPattern{.period = 10ms, .extra_gap = 5ms, .jitter = 1ms});
  PatternJobs one_by_one(patterns, 7);
  PatternJobs in_turn(patterns, 7);
  PatternJobs other_seed(patterns, 8);
  const auto expected = first_jobs(one_by_one, 0, 50);
  std::vector<JobRelease> jobs;
  for (int i = 0; i < 50; ++i) {
    jobs.push_back(in_turn.next(0).value());
    in_turn.next(1);
  }
  CHECK(jobs == expected);
  CHECK(first_jobs(one_by_one, 1, 50) != expected);
  CHECK(first_jobs(other_seed, 0, 50) != expected);
}

TEST_CASE("a function gives the demand of each job") {
  PatternJobs source(Patterns{{.period = 1ms, .demand = 9ms}}, 1,
                     [](std::size_t task, std::uint64_t job, JobRandom&) { return Duration{10 * job + task}; });
  const auto jobs = first_jobs(source, 0, 3);
  CHECK(jobs[0].demand == 0ns);
  CHECK(jobs[2].demand == 20ns);
}

TEST_CASE("a trace gives its jobs once") {
  const std::vector<JobRelease> trace{{Time{1ms}, 0ms, 2ms}, {Time{4ms}, 1ms, 3ms}};
  ListedJobs source(std::vector<std::vector<JobRelease>>{{}, trace});
  CHECK_FALSE(source.next(0));
  CHECK(first_jobs(source, 1, 2) == trace);
  CHECK_FALSE(source.next(1));
}

TEST_CASE("random numbers of a job are those of its seed, task and number") {
  JobRandom random(1, 2, 3);
  const std::uint64_t first = random();
  CHECK(random() != first);
  CHECK(JobRandom(1, 2, 3)() == first);
  CHECK(JobRandom(2, 2, 3)() != first);
  CHECK(JobRandom(1, 3, 3)() != first);
  CHECK(JobRandom(1, 2, 4)() != first);
}

}  // namespace job_source_test
