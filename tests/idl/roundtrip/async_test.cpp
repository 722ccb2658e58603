// async.idl: calls that return when the request is sent, and whose replies go to a handler.
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

#include "tests/idl/roundtrip/async_fixture.h"

using namespace corelane::test::async;

TEST_CASE("a reply handler hears the result, inout and out values") {
  Session session;
  session.machine->sendc_compute(session.handler, 2.0, Async::Point(4, 5));
  CHECK(session.mailbox.hear() == "4 5 computed");
  session.machine->sendc_add(session.handler, 3);
  CHECK(session.mailbox.hear() == "3");
  session.machine->sendc_name(session.handler);
  CHECK(session.mailbox.hear() == "machine");
}

TEST_CASE("attributes are set and read asynchronously") {
  Session session;
  session.machine->sendc_set_level(session.handler, 9);
  CHECK(session.mailbox.hear() == "set");
  session.machine->sendc_get_level(session.handler);
  CHECK(session.mailbox.hear() == "level 9");
  session.machine->sendc_get_where(session.handler);
  CHECK(session.mailbox.hear() == "where 2");
}

TEST_CASE("an asynchronous stub makes ordinary calls as well") {
  Session session;
  CHECK(session.machine->add(2) == 2);
  session.machine->sendc_hint(session.handler, "faster");
  CHECK(session.servant->hints.hear() == "faster");
}

TEST_CASE("200 calls under way at once are answered once each") {
  Session session;
  for (int i = 0; i < 200; ++i) session.machine->sendc_compute(session.handler, i, Async::Point(i, 0));
  std::vector<bool> heard(200);
  for (int i = 0; i < 200; ++i) {
    const auto result = static_cast<std::size_t>(std::stoi(session.mailbox.hear()));
    REQUIRE(result % 2 == 0);
    REQUIRE_FALSE(heard.at(result / 2));
    heard[result / 2] = true;
  }
  CHECK(session.mailbox.is_empty());
}

TEST_CASE("a reply that comes late holds up neither other replies nor callers that wait") {
  Session session;
  session.machine->sendc_wait_for_release(session.handler, 1);
  session.machine->sendc_add(session.handler, 5);
  CHECK(session.mailbox.hear() == "5");
  CHECK(session.machine->add(1) == 6);
  session.machine->release();
  CHECK(session.mailbox.hear() == "released 1");
}

TEST_CASE("several threads send over one connection") {
  Session session;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 3; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 50; ++i) {
          session.machine->sendc_nothing_excep(session.handler);
          session.machine->nothing();
        }
      });
  }
  for (int i = 0; i < 150; ++i) CHECK(session.mailbox.hear() == "nothing_excep");
}

TEST_CASE("a nil handler hears nothing, and the call is made") {
  Session session;
  session.machine->sendc_set_level(nullptr, 4);
  CHECK(session.servant->hints.hear() == "level 4");
}

TEST_CASE("an object of the same ORB is called asynchronously as well") {
  Session session;
  const auto local = MachineTraits::narrow(session.client.activate(CORBA::make_reference<Machine>()));
  local->sendc_add(session.handler, 8);
  CHECK(session.mailbox.hear() == "8");
}
