#include "services/corelane/real_run/node_messages.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <string>

using namespace corelane;
using namespace corelane::tool;
using namespace std::chrono_literals;

namespace node_messages_test {

constexpr JobRow numbered{.task = 1,
                          .number = 2,
                          .sent = 3,
                          .release = 4,
                          .begin = 5,
                          .end = 6,
                          .core = 7,
                          .execution = 8,
                          .gaps = 9,
                          .longest_gap = 10};

TEST_CASE("the records of a server arrive as they were sent") {
  const ServerReport sent{
      .tasks = {{.task = 5, .core = 1, .priority = 3, .bound = 1'000'000}}, .jobs = {numbered, JobRow{}}, .dropped = 4};
  const auto read = message_of<ServerReport>(line_of(sent));
  REQUIRE(read);
  CHECK(read->jobs == sent.jobs);
  CHECK(read->dropped == 4);
  REQUIRE(read->tasks.size() == 1);
  CHECK(read->tasks[0].task == 5);
  CHECK(read->tasks[0].core == 1);
  CHECK(read->tasks[0].priority == 3);
  CHECK(read->tasks[0].bound == 1'000'000);
}

TEST_CASE("a job is a list of ten numbers") { CHECK(line_of(numbered) == "[1,2,3,4,5,6,7,8,9,10]"); }

TEST_CASE("an order to run has the jobs of each task") {
  const RunOrder sent{.start = 12, .jobs = {{{.release = 0ns, .demand = 5us}, {.release = 10ms, .demand = 6us}}, {}}};
  const auto read = message_of<RunOrder>(line_of(sent));
  REQUIRE(read);
  CHECK(read->start == 12);
  CHECK(read->jobs == sent.jobs);
}

TEST_CASE("an order to admit has the contract, without suspension and locks") {
  Contract contract = make_contract(20ms, 3ms, 15ms, 1ms);
  contract.importance = 4;
  contract.intensity = 25;
  contract.on_overrun = OverrunPolicy::demote;
  const auto order = message_of<AdmitOrder>(line_of(order_of(contract, "IOR:00")));
  REQUIRE(order);
  CHECK(order->reference == "IOR:00");
  CHECK(contract_of(*order) == contract);
  contract.suspension = 1ms;
  CHECK(contract_of(order_of(contract, "")).suspension == 0ns);
}

TEST_CASE("a message is one line, whatever text it has") {
  const std::string line = line_of(AdmitAnswer{.admitted = false, .task = 0, .refusal = "first\nsecond \xff"});
  CHECK(line.find('\n') == line.npos);
  const auto read = message_of<AdmitAnswer>(line);
  REQUIRE(read);
  CHECK_THAT(read->refusal, Catch::StartsWith("first\nsecond "));
}

// Error paths.

TEST_CASE("a line that is no message is a fault") {
  const std::string line =
      GENERATE(as<std::string>{}, "", "ready", "[]", "{}", R"({"tasks":[],"jobs":[[1,2]],"dropped":0})",
               R"({"tasks":[],"jobs":["one"],"dropped":0})");
  const auto read = message_of<ServerReport>(line);
  REQUIRE(!read);
  CHECK(!read.error().text.empty());
}

}  // namespace node_messages_test
