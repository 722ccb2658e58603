#include "services/corelane/plan/plan_progress.h"

#include <catch2/catch.hpp>
#include <sstream>

namespace plan_progress_test {

using namespace corelane;
using namespace corelane::tool;
using namespace std::chrono_literals;
using Stage = eval::PlanProgress::Stage;

TEST_CASE("a plan says where it is after two seconds, and then every two seconds") {
  std::ostringstream out;
  PlanProgressLine line(out, 1, Time{10s});
  line.begin_set();
  line.say({.stage = Stage::admission, .done = 4, .all = 9}, Time{12s} - 1ns);
  CHECK(out.str().empty());
  line.say({.stage = Stage::admission, .done = 5, .all = 9}, Time{12s});
  line.say({.stage = Stage::admission, .done = 6, .all = 9}, Time{13s});
  line.say({.stage = Stage::growth, .done = 1, .all = 9}, Time{14s});
  CHECK(out.str() ==
        "corelane plan: 5 of 9 tasks have asked for admission\n"
        "corelane plan: looked how much 1 of 9 budgets may grow; --quick leaves that out\n");
}

TEST_CASE("a plan of several sets says in which one it is") {
  std::ostringstream out;
  PlanProgressLine line(out, 80, Time{});
  line.begin_set();
  line.begin_set();
  line.say({.stage = Stage::cores, .done = 3, .all = 8}, Time{2s});
  CHECK(out.str() ==
        "corelane plan: set 2 of 80: looked whether all tasks fit on 3 cores, of 8 at most; --quick leaves that out\n");
}

}  // namespace plan_progress_test
