#include "services/corelane/trace/trace_summary.h"

#include <catch2/catch.hpp>

#include "tests/services/corelane/trace/recording.h"

namespace trace_summary_test {

using namespace corelane;
using namespace corelane::sched;
using namespace std::chrono_literals;

TEST_CASE("the summary tells which misses were in jobs that broke their contract themselves") {
  testing::Recording recording;
  recording.admit(1us, 5, 1, "Plant/step");
  for (std::uint64_t job = 1; job <= 4; ++job) {
    const Duration at = job * 100ms;
    recording.start(at, 5, job, 1);
    if (job == 2) recording.scheduler(at, trace::Blocked{Time{at}, JobId{job}, TaskId{5}, 9ms});
    if (job == 3) recording.scheduler(at, trace::Overslept{Time{at}, JobId{job}, TaskId{5}, 9ms});
    recording.finish(at + 15ms, 5, job, job == 1 ? 3ms : 1ms);  // the budget is 2 ms
    recording.scheduler(at + 15ms, trace::Missed{Time{at + 15ms}, JobId{job}, TaskId{5}, Time{at}, Time{at + 10ms}});
  }
  const tool::TraceSummary summary = tool::summary_of(recording.trace);
  CHECK(
      text_of(summary.troubles.at(TaskId{5})) ==
      "missed 4 deadlines (3 in jobs that themselves overran, overslept or blocked), overran 1 time, overslept 1 time, "
      "blocked 1 time");
}

}  // namespace trace_summary_test
