#include "orb/eval/report/gantt.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <string>

namespace gantt_test {

using namespace corelane;
using namespace corelane::eval;
using namespace std::chrono_literals;
using Catch::Contains;

namespace {

// Returns a job of task-1 that is released at 20 ms and is late. Before and after it, task-0 and task-2 run.
Gantt late_at(Duration deadline, Duration finish) {
  return {.title = "t",
          .cores = {CoreId{0}},
          .tasks = {"task-0", "task-1", "task-2"},
          .slices = {{.task = 0, .begin = Time{2ms}, .end = Time{9ms}},
                     {.task = 1, .number = 4, .begin = Time{21ms}, .end = Time{60ms}},
                     {.task = 2, .begin = Time{80ms}, .end = Time{90ms}}},
          .late = {.task = 1, .number = 4, .release = 20ms, .finish = finish, .deadline = deadline}};
}

}  // namespace

TEST_CASE("a Gantt chart shows the time from the release of the late job to its end, with round marks") {
  const std::string svg = svg_of(late_at(50ms, 60ms));
  for (const char* const tick : {">20 ms<", ">25 ms<", ">60 ms<"}) CHECK_THAT(svg, Contains(tick));
  CHECK_THAT(svg, !Contains(">15 ms<") && !Contains(">65 ms<") && !Contains("task-0") && !Contains("task-2"));
}

TEST_CASE("the legend of a Gantt chart shows the outline of the late job") {
  const std::string svg = svg_of(late_at(50ms, 60ms));
  CHECK_THAT(svg, Contains("height=\"10\" fill=\"#d55e00\" class=\"late\"/>") && Contains(">late: job 4 of task-1<"));
}

TEST_CASE("the names of release and deadline do not cover each other") {
  CHECK_THAT(svg_of(late_at(21ms, 60ms)), Contains("\"end\">release<") && Contains("\"start\">deadline<"));
  CHECK_THAT(svg_of(late_at(59ms, 60ms)), Contains("\"end\">deadline<") && Contains("\"start\">end<"));
}

TEST_CASE("a long title of a Gantt chart has more lines") {
  Gantt gantt = late_at(50ms, 60ms);
  for (int i = 0; i < 20; ++i) gantt.title += ", field = value";
  CHECK_THAT(svg_of(gantt), Contains("viewBox=\"0 -30.0 "));
}

}  // namespace gantt_test
