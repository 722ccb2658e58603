#include "services/corelane/real_run/job_log.h"

#include <catch2/catch.hpp>
#include <thread>
#include <vector>

using namespace corelane::tool;

TEST_CASE("a log of jobs has what was added") {
  JobLog log(2);
  log.add({.task = 1, .number = 7});
  CHECK(log.rows() == std::vector<JobRow>{{.task = 1, .number = 7}});
  CHECK(log.dropped() == 0);
}

TEST_CASE("threads that add jobs at once lose none") {
  constexpr int threads = 4, jobs = 1000;
  JobLog log(threads * jobs);
  {
    std::vector<std::jthread> adding;
    for (int task = 0; task < threads; ++task)
      adding.emplace_back([&log, task] {
        for (int number = 0; number < jobs; ++number) log.add({.task = task, .number = number});
      });
  }
  std::vector<int> next(threads, 0);
  for (const JobRow& row : log.rows()) CHECK(row.number == next[static_cast<std::size_t>(row.task)]++);
  CHECK(next == std::vector<int>(threads, jobs));
}

// Edges.

TEST_CASE("a full log of jobs counts the jobs for which it has no room") {
  JobLog log(1);
  log.add({.number = 0});
  log.add({.number = 1});
  CHECK(log.rows().size() == 1);
  CHECK(log.dropped() == 1);
}

TEST_CASE("a log of jobs without room keeps none") {
  JobLog log(0);
  log.add({});
  CHECK(log.rows().empty());
  CHECK(log.dropped() == 1);
}
