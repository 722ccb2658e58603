// Part of the suite of tests/support/byte_transport_suite.h: addresses, listeners, and limits on the connections.
#pragma once

#include <memory>
#include <vector>

#include "tests/support/byte_transport/common.h"

TEMPLATE_LIST_TEST_CASE("many connections at once keep their bytes apart", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  constexpr std::uint32_t count = 50;  // fits in 1024 descriptors: a channel takes seven at each end
  StreamHarness<TestType> harness;
  std::vector<Pair> pairs;
  std::vector<std::shared_ptr<Collector>> collectors;
  for (std::uint32_t i = 0; i < count; ++i) {
    pairs.push_back(harness.connect());
    pairs.back().called->watch(collectors.emplace_back(std::make_shared<Collector>()));
  }
  for (std::uint32_t i = 0; i < count; ++i) REQUIRE(send(pairs[i].caller, pattern(2000, i)));
  for (std::uint32_t i = 0; i < count; ++i) CHECK(collectors[i]->wait_for(2000) == pattern(2000, i));
}

TEMPLATE_LIST_TEST_CASE("both ends name each other and have identities of their own", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  StreamHarness<TestType> harness;
  const auto [caller, called] = harness.connect();
  CHECK(caller->peer() == called->local());
  CHECK(caller->local() == called->peer());
  CHECK(caller->peer() == harness.listener->endpoint());
  CHECK(caller->id() != called->id());
  CHECK(caller->id().value != 0);
}

TEMPLATE_LIST_TEST_CASE("an address left to the system is a real one afterwards", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  StreamHarness<TestType> harness;
  CHECK(harness.listener->endpoint() != TestType::anywhere());
  CHECK(harness.transport->connect(harness.listener->endpoint(), patience()));
}

TEMPLATE_LIST_TEST_CASE("no process listens at an address whose listener stopped", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  StreamHarness<TestType> harness;
  const corelane::transport::Endpoint endpoint = harness.listener->endpoint();
  harness.listener->stop();
  harness.listener->stop();
  const auto result = harness.transport->connect(endpoint, patience());
  REQUIRE_FALSE(result);
  CHECK(result.error().kind == corelane::ErrorKind::transient);
  CHECK(result.error().minor == corelane::minor::connect_failed);
}

TEMPLATE_LIST_TEST_CASE("one address has one listener", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  StreamHarness<TestType> harness;
  const auto second = harness.transport->listen(harness.listener->endpoint(), [](ConnectionPtr) {});
  REQUIRE_FALSE(second);
  CHECK(second.error().kind == corelane::ErrorKind::comm_failure);
  CHECK(second.error().minor == corelane::minor::address_in_use);
}

TEMPLATE_LIST_TEST_CASE("connections beyond the limit are ended at once and room returns", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  const bool by_peer = GENERATE(true, false);
  StreamHarness<TestType> harness({.connections = by_peer ? 100u : 2u, .connections_per_peer = by_peer ? 2u : 100u});
  Pair first = harness.connect();
  const Pair second = harness.connect();
  const auto third = harness.transport->connect(harness.listener->endpoint(), patience());
  if (third) {
    CHECK(read(*third, 1).empty());  // the system accepted it, and the listener closed it
  } else {
    CHECK(third.error().completed == corelane::Completion::no);
  }
  CHECK(harness.accepted.empty());
  first.called.reset();
  const Pair fourth = harness.connect();
  REQUIRE(send(fourth.caller, "x"));
  CHECK(read(fourth.called, 1) == "x");
}
