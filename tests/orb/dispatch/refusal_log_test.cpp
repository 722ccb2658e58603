#include "orb/dispatch/refusal_log.h"

#include <catch2/catch.hpp>
#include <string>

#include "orb/base/contract.h"
#include "tests/support/failing_allocations.h"

using namespace corelane;
using namespace corelane::dispatch;
using namespace std::chrono_literals;
using corelane::testing::allocations;
using corelane::testing::allocations_are_counted;
using sched::RefusalCode;

namespace {

const Contract contract = make_contract(10ms, 9ms);

void refuse(RefusalLog& log, std::string_view label, RefusalCode code = RefusalCode::not_schedulable, PeerId peer = {},
            Time at = {}) {
  log.record(label, peer, contract, {.code = code}, at);
}

}  // namespace

TEST_CASE("refusals of one label are one row, which says why the latest was") {
  RefusalLog log;
  CHECK(log.latest().empty());
  refuse(log, "step", RefusalCode::peer_limit, PeerId{1}, Time{1s});
  refuse(log, "watch");
  refuse(log, "step", RefusalCode::not_schedulable, PeerId{2}, Time{2s});
  const auto latest = log.latest();
  REQUIRE(latest.size() == 2);
  CHECK(latest[0].label == "step");
  CHECK(latest[0].times == 2);
  CHECK(latest[0].owner == PeerId{2});
  CHECK(latest[0].why.code == RefusalCode::not_schedulable);
  CHECK(latest[0].contract == contract);
  CHECK(latest[0].asked == Time{2s});
  CHECK(latest[1].label == "watch");
  CHECK(latest[1].times == 1);
}

TEST_CASE("the process' own task of a label and those of clients have a row each") {
  RefusalLog log;
  refuse(log, "step");
  refuse(log, "step", RefusalCode::peer_limit, PeerId{7});
  refuse(log, "step", RefusalCode::peer_limit, PeerId{8});
  refuse(log, "step");
  const auto latest = log.latest();
  REQUIRE(latest.size() == 2);
  CHECK(latest[0].owner == PeerId{});
  CHECK(latest[0].times == 2);
  CHECK(latest[1].owner == PeerId{8});
  CHECK(latest[1].why.code == RefusalCode::peer_limit);
}

TEST_CASE("the label that was refused longest ago makes room for a new label") {
  RefusalLog log;
  for (std::size_t i = 0; i < RefusalLog::most; ++i) refuse(log, std::to_string(i));
  refuse(log, "0");
  CHECK(log.latest().size() == RefusalLog::most);
  refuse(log, "more");
  const auto latest = log.latest();
  REQUIRE(latest.size() == RefusalLog::most);
  CHECK(latest[0].label == "more");
  CHECK(latest[0].times == 1);
  CHECK(latest[1].label == "0");
  CHECK(latest[1].times == 2);
  CHECK(latest.back().label == "2");  // the row of label 1 was reused
}

TEST_CASE("labels are told apart by as much of them as is kept") {
  RefusalLog log;
  const std::string kept(RefusalLog::label_length, 'x');
  refuse(log, kept);
  refuse(log, kept + "more");
  refuse(log, kept.substr(1));
  refuse(log, "");
  const auto latest = log.latest();
  REQUIRE(latest.size() == 3);
  CHECK(latest[0].label.empty());
  CHECK(latest[2].label == kept);
  CHECK(latest[2].times == 2);
}

TEST_CASE("to remember a refusal allocates nothing") {
  if (!allocations_are_counted()) return;
  RefusalLog log;
  const std::string label(200, 'x');
  const std::size_t before = allocations();
  for (std::size_t i = 0; i < 2 * RefusalLog::most; ++i) refuse(log, std::string_view(label).substr(i));
  CHECK(allocations() == before);
}
