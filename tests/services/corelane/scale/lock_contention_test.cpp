// Tests reading /proc/lock_stat.
#include "services/corelane/scale/lock_contention.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

using namespace corelane::tool;

namespace lock_contention_test {
namespace {

const std::string head =
    "lock_stat version 0.4\n"
    "-----------------------------------------------------------------------\n"
    "                 class name    con-bounces    contentions   waittime-min   waittime-max waittime-total\n"
    "-----------------------------------------------------------------------\n\n";

}  // namespace

TEST_CASE("each class of locks has its contentions and its waiting time") {
  const auto found = contentions_in(
      head +
      "       &mm->mmap_lock-W:            46             84           0.26         939.10       16371.53         "
      "194.90\n"
      "                         ---------------\n"
      "       &mm->mmap_lock              1          [<ffffffff811502a7>] khugepaged_scan_mm_slot+0x57/0x280\n"
      "       rcu:node_0:                 1              2           0.10           0.50           0.60           "
      "0.30\n");
  REQUIRE(found.size() == 2);
  CHECK(found[0].lock == "&mm->mmap_lock-W");
  CHECK(found[0].contentions == 84);
  CHECK(found[0].waited_us == Approx(16371.53));
  CHECK(found[1].lock == "rcu:node_0");
}

TEST_CASE("a text of another form has no locks") {
  CHECK(contentions_in("").empty());
  CHECK(contentions_in(head).empty());
  CHECK(contentions_in("permission denied: 3\n:\n").empty());
}

TEST_CASE("the longest waits are those between two readings") {
  const std::vector<LockContention> before{{"a", 10, 100}, {"b", 5, 50}};
  const std::vector<LockContention> after{{"a", 12, 103}, {"b", 5, 50}, {"c", 4, 40}, {"d", 1, 1}};
  const auto longest = longest_waits(before, after, 2);
  REQUIRE(longest.size() == 2);
  CHECK(longest[0].lock == "c");
  CHECK(longest[0].contentions == 4);
  CHECK(longest[1].lock == "a");
  CHECK(longest[1].contentions == 2);
  CHECK(longest[1].waited_us == Approx(3));
  CHECK(longest_waits(after, after, 2).empty());
}

}  // namespace lock_contention_test
