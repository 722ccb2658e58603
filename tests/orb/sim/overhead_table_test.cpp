#include "orb/sim/overhead_table.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace overhead_table_test {

using namespace corelane;
using namespace corelane::sim;
using namespace std::chrono_literals;

namespace {

OverheadTable table_of(std::string_view text) {
  auto table = OverheadTable::parse(text);
  REQUIRE(table);
  return *table;
}

std::string fault_in(std::string_view text) {
  const auto table = OverheadTable::parse(text);
  REQUIRE_FALSE(table);
  return table.error().text;
}

constexpr std::string_view scheduling =
    "  TASK-COUNT,  RELEASE, SCHEDULE,   CXS, IPI-LATENCY, TICK\n"
    "           2,     1.30,     0.95,  0.52,        2.00, 0.10\n"
    "          10,     1.70,     1.15,  0.50,        4.00, 0.20\n";

}  // namespace

TEST_CASE("measured overheads hold at the task counts of the table") {
  const Overheads overheads = overheads_of(table_of(scheduling), 2);
  CHECK(overheads.release.most() == 1300ns);
  CHECK(overheads.dispatch.most() == 1470ns);
  CHECK(overheads.hop.most() == 2us);
  CHECK(overheads.preemption.most() == 0ns);
  CHECK(overheads.migration.most() == 0ns);
}

TEST_CASE("overheads are interpolated between task counts, and extended beyond them") {
  const OverheadTable table = table_of(scheduling);
  CHECK(table.at("RELEASE", 6) == 1500ns);
  CHECK(table.at("IPI-LATENCY", 4) == 2500ns);
  CHECK(table.at("IPI-LATENCY", 18) == 6us);
  CHECK(table.at("IPI-LATENCY", 0) == 1500ns);
}

TEST_CASE("an overhead does not decrease with more tasks, and is never negative") {
  CHECK(table_of(scheduling).at("CXS", 10) == 520ns);
  CHECK(table_of("TASK-COUNT,CXS\n10,1\n20,11\n").at("CXS", 1) == 0ns);
}

TEST_CASE("a table with one line is constant") {
  const OverheadTable table = table_of("TASK-COUNT,CXS\n10,1.5\n");
  CHECK(table.at("CXS", 1) == 1500ns);
  CHECK(table.at("CXS", 99) == 1500ns);
}

TEST_CASE("a table may have any order of columns, blank lines and carriage returns") {
  const OverheadTable table = table_of("\r\nCXS , TASK-COUNT\r\n\r\n 2.5,4\r\n");
  CHECK(table.depends_on() == "TASK-COUNT");
  CHECK(table.at("CXS", 4) == 2500ns);
}

TEST_CASE("columns that are not charged are named") {
  CHECK(unused_columns(table_of(scheduling)) == std::vector<std::string>{"TICK"});
  CHECK(table_of(scheduling).at("LOCK", 2) == 0ns);
}

TEST_CASE("cache-related delays depend on the working set") {
  const OverheadTable table = table_of("WSS,L1,L2,L3,MEM\n4,5.24,5.37,5.66,5.77\n8,9.14,9.24,9.93,10.09\n");
  Overheads overheads{.dispatch = 1us};
  set_cache_delays(overheads, table, 4);
  CHECK(overheads.preemption.most() == 5240ns);
  CHECK(overheads.migration.most() == 5770ns);
  CHECK(overheads.dispatch.most() == 1us);
  set_cache_delays(overheads, table, 6);
  CHECK(overheads.preemption.most() == 7190ns);
  CHECK(unused_columns(table).empty());
}

TEST_CASE("a fault of an overhead table names the line, the column and the remedy") {
  CHECK(fault_in("") == "the overheads are empty: write a line of names, such as TASK-COUNT, RELEASE, CXS");
  CHECK(fault_in("TASK-COUNT,CXS\n") == "the overheads have no line of values: write one for each measured TASK-COUNT");
  CHECK(fault_in("N,CXS\n1,2\n") ==
        "line 1 of the overheads has neither a column TASK-COUNT nor a column WSS: write "
        "what the values depend on");
  CHECK(fault_in("TASK-COUNT,CXS,CXS\n") == "line 1 of the overheads has two columns CXS: remove one of them");
  CHECK(fault_in("TASK-COUNT,\n") == "line 1 of the overheads has no name in column 2: give it one");
  CHECK(fault_in("TASK-COUNT,CXS\n\n1\n") ==
        "line 3 of the overheads has 1 values: write one for each of the 2 names in the first line");
  CHECK(fault_in("TASK-COUNT,CXS\n1,fast\n") ==
        "line 2 of the overheads has \"fast\" in column CXS: write a number from 0 on");
  CHECK(fault_in("TASK-COUNT,CXS\n1,nan\n") ==
        "line 2 of the overheads has \"nan\" in column CXS: write a number from 0 on");
  CHECK(fault_in("TASK-COUNT,CXS\n1,-1\n") ==
        "line 2 of the overheads has \"-1\" in column CXS: write a number from 0 on");
  CHECK(fault_in("TASK-COUNT,CXS\n1,2000001\n") ==
        "line 2 of the overheads has 2000001 in column CXS: write microseconds, 2 seconds at most");
  CHECK(fault_in("TASK-COUNT,CXS\ninf,1\n") ==
        "line 2 of the overheads has inf in column TASK-COUNT: write a smaller number");
  CHECK(fault_in("TASK-COUNT,CXS\n2,1\n2,1\n") ==
        "line 3 of the overheads does not ascend in column TASK-COUNT: sort the lines, each value once");
}

}  // namespace overhead_table_test
