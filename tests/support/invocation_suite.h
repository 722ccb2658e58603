// Tests what every way of calling an object must do: over a transport, or within the ORB. A test file declares its ways
// and includes this file once:
//   using InvocationWays = std::tuple<OverTcp, Collocated>;   // probe(), server_reference(), servant(), poa()
// A way whose references serve only one caller at a time also has another_probe(). One that some machines lack has a
// static missing().
//   #include "tests/support/invocation_suite.h"
#pragma once

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdint>
#include <functional>
#include <future>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "orb/base/minor.h"
#include "tests/support/probe_servant.h"

// Returns whether this machine has the way. A way that some machines lack has missing(), which says why.
template <typename Way>
bool way_exists() {
  if constexpr (requires { Way::missing(); }) {
    const std::optional<std::string> missing = Way::missing();
    if (missing) std::cout << "SKIPPED: " << *missing << "\n";
    return !missing;
  } else {
    return true;
  }
}

template <typename Way>
auto probe_for_one_thread(Way& way) {
  if constexpr (requires { way.another_probe(); }) {
    return way.another_probe();
  } else {
    return way.probe();
  }
}

// Behavior.

TEMPLATE_LIST_TEST_CASE("a two-way call brings back its result", "", InvocationWays) {
  if (!way_exists<TestType>()) return;
  TestType way;
  CHECK(way.probe()->add(20, 22) == 42);
  CHECK(way.probe()->echo("") == "");
}

TEMPLATE_LIST_TEST_CASE("long messages go both ways whole", "", InvocationWays) {
  if (!way_exists<TestType>()) return;
  TestType way;
  for (const std::size_t size : {100'000u, 1'048'576u, 3'000'000u}) {
    const std::string text(size, 'x');
    CHECK(way.probe()->echo(text) == text);
  }
}

TEMPLATE_LIST_TEST_CASE("a call without arguments and result reaches the servant", "", InvocationWays) {
  if (!way_exists<TestType>()) return;
  TestType way;
  way.probe()->ping();
  CHECK(way.servant().pings == 1);
}

TEMPLATE_LIST_TEST_CASE("inout and out parameters come back", "", InvocationWays) {
  if (!way_exists<TestType>()) return;
  TestType way;
  Probing::Point state{.x = 1, .label = "cart", .samples = {0.5}};
  Probing::Mode mode = Probing::Mode::idle;
  CHECK(way.probe()->step(2, state, mode) == 3);
  CHECK(state.x == 3);
  CHECK(state.label == "cart");
  CHECK(state.samples == std::vector<double>{0.5, 2});
  CHECK(mode == Probing::Mode::active);
}

TEMPLATE_LIST_TEST_CASE("an attribute keeps what was set", "", InvocationWays) {
  if (!way_exists<TestType>()) return;
  TestType way;
  way.probe()->name("left");
  CHECK(way.probe()->name() == "left");
}

TEMPLATE_LIST_TEST_CASE("oneway calls arrive, and before a later two-way call of the same thread is answered", "",
                        InvocationWays) {
  if (!way_exists<TestType>()) return;
  TestType way;
  way.probe()->note("one");
  while (way.servant().notes().empty()) way.probe()->ping();  // bound: oneways are delivered
  CHECK(way.servant().notes() == std::vector<std::string>{"one"});
}

TEMPLATE_LIST_TEST_CASE("references travel as parameters and results, nil among them", "", InvocationWays) {
  if (!way_exists<TestType>()) return;
  TestType way;
  const auto back = way.probe()->pass(way.probe());
  REQUIRE(back);
  CHECK(back->_is_equivalent(way.probe()));
  CHECK(back->add(1, 2) == 3);
  CHECK_FALSE(way.probe()->pass(nullptr));
}

TEMPLATE_LIST_TEST_CASE("an object knows its types", "", InvocationWays) {
  if (!way_exists<TestType>()) return;
  TestType way;
  CHECK(way.probe()->_is_a("IDL:Probing/Base:1.0"));
  CHECK(way.probe()->_is_a("IDL:omg.org/CORBA/Object:1.0"));
  CHECK_FALSE(way.probe()->_is_a("IDL:Probing/Other:1.0"));
  CHECK(way.probe()->_repository_id() == "IDL:Probing/Probe:1.0");
  CHECK_FALSE(way.probe()->_non_existent());
  CHECK(IDL::traits<Probing::Base>::narrow(way.probe()));
}

TEMPLATE_LIST_TEST_CASE("many threads call one object and each gets its own replies", "", InvocationWays) {
  if (!way_exists<TestType>()) return;
  TestType way;
  constexpr int threads = 8, calls = 200;
  std::atomic<int> right{0};
  {
    std::vector<std::jthread> callers;
    for (int t = 0; t < threads; ++t)
      callers.emplace_back([&, t, probe = probe_for_one_thread(way)] {
        for (int i = 0; i < calls; ++i) right += probe->add(t * 1000, i) == t * 1000 + i;
      });
  }
  CHECK(right == threads * calls);
}

TEMPLATE_LIST_TEST_CASE("a call waits for its servant while others go on", "", InvocationWays) {
  if (!way_exists<TestType>()) return;
  TestType way;
  std::jthread waiting([&, probe = way.probe()] { probe->block(); });
  way.servant().wait_until_blocked();
  CHECK(way.probe()->add(1, 1) == 2);
  way.servant().release();
}

// Error paths.

TEMPLATE_LIST_TEST_CASE("a declared user exception arrives with its members", "", InvocationWays) {
  if (!way_exists<TestType>()) return;
  TestType way;
  Probing::Point state;
  Probing::Mode mode{};
  try {
    way.probe()->step(-1, state, mode);
    FAIL("no exception");
  } catch (const Probing::Refused& refused) {
    CHECK(refused.why() == "negative");
    CHECK(refused.code() == 7);
  }
}

TEMPLATE_LIST_TEST_CASE("an undeclared user exception becomes UNKNOWN", "", InvocationWays) {
  if (!way_exists<TestType>()) return;
  TestType way;
  try {
    way.probe()->fail(corelane::testing::undeclared);
    FAIL("no exception");
  } catch (const CORBA::UNKNOWN& unknown) {
    CHECK(unknown.minor() == corelane::minor::undeclared_exception);
  }
}

TEMPLATE_LIST_TEST_CASE("a system exception passes with its minor code and completion", "", InvocationWays) {
  if (!way_exists<TestType>()) return;
  TestType way;
  try {
    way.probe()->fail(corelane::testing::system_exception);
    FAIL("no exception");
  } catch (const CORBA::BAD_PARAM& bad) {
    CHECK(bad.minor() == 77);
    CHECK(bad.completed() == CORBA::COMPLETED_YES);
  }
}

TEMPLATE_LIST_TEST_CASE("an exception of a call that the servant made says that the servant has run", "",
                        InvocationWays) {
  if (!way_exists<TestType>()) return;
  TestType way;
  enum class Callee { no_server, no_object, nil, stops_halfway };
  const auto callee = GENERATE(Callee::no_server, Callee::no_object, Callee::nil, Callee::stops_halfway);
  const auto id = way.poa()->activate_object(CORBA::make_reference<ProbeServant>());
  const auto halfway = CORBA::make_reference<ProbeServant>();
  const auto orb = way.server_reference()->_get_orb();
  CORBA::object_reference<CORBA::Object> called = way.poa()->id_to_reference(id);
  if (callee == Callee::no_server) called = orb->string_to_object("corbaloc::127.0.0.1:1/gone");
  if (callee == Callee::stops_halfway) called = way.poa()->servant_to_reference(halfway);
  if (callee != Callee::nil) way.servant().next(corelane::core::make_stub<Probing::Probe>(called->_reference()));
  way.poa()->deactivate_object(id);
  try {
    way.probe()->fail(corelane::testing::nested);
    FAIL("no exception");
  } catch (const CORBA::SystemException& failed) {
    CHECK(failed.completed() == CORBA::COMPLETED_MAYBE);
    const std::map<Callee, std::uint32_t> minors{{Callee::no_server, corelane::minor::connect_failed},
                                                 {Callee::no_object, corelane::minor::no_such_object},
                                                 {Callee::nil, corelane::minor::nil_reference},
                                                 {Callee::stops_halfway, 77}};
    CHECK(failed.minor() == minors.at(callee));
    const std::string completed = callee == Callee::stops_halfway ? "COMPLETED_YES" : "COMPLETED_NO";
    CHECK_THAT(std::string(failed.what()),
               Catch::Contains("a call that the servant made failed with ") && Catch::Contains(completed));
    CHECK(failed.refusal() == nullptr);
  }
  way.servant().next(nullptr);
}

// Makes the servant run `failure`, and checks the exception that the client gets for it.
template <typename Way, typename Failure, typename Check>
void check_failure(Way& way, Failure failure, Check check) {
  way.servant().failure(failure);
  try {
    way.probe()->fail(corelane::testing::as_told);
    FAIL("no exception");
  } catch (const CORBA::SystemException& failed) {
    check(failed);
  }
  way.servant().failure(nullptr);
}

TEMPLATE_LIST_TEST_CASE("an exception of an ORB's function that the servant called says that the servant has run", "",
                        InvocationWays) {
  if (!way_exists<TestType>()) return;
  TestType way;
  const auto poa = way.poa();
  const auto orb = way.server_reference()->_get_orb();
  const std::map<std::string, std::function<void()>> functions{
      {"a malformed reference", [orb] { orb->string_to_object("corbaloc::[/gone"); }},
      {"a nameserver that is not there", [orb] { orb->string_to_object("corbaname::127.0.0.1:1#gone"); }},
      {"a nil servant", [poa] { poa->servant_to_id(nullptr); }},
      {"a nil reference", [poa] { poa->reference_to_id(nullptr); }},
      {"an empty key", [poa] { poa->create_well_known("", nullptr); }},
      {"another thread's call", [orb] { std::async(std::launch::async, [orb] { orb->string_to_object("?"); }).get(); }},
  };
  for (const auto& [name, function] : functions) {
    INFO(name);
    check_failure(way, function, [](const CORBA::SystemException& failed) {
      CHECK(failed.completed() == CORBA::COMPLETED_MAYBE);
      CHECK_THAT(std::string(failed.what()),
                 Catch::Contains("a call that the servant made failed with ") && Catch::Contains("COMPLETED_NO"));
    });
  }
}

TEMPLATE_LIST_TEST_CASE("an exception that the servant constructs keeps its completion status", "", InvocationWays) {
  if (!way_exists<TestType>()) return;
  TestType way;
  const auto completed = GENERATE(CORBA::COMPLETED_NO, CORBA::COMPLETED_YES, CORBA::COMPLETED_MAYBE);
  const auto check = [&](const CORBA::SystemException& failed) {
    CHECK(failed.minor() == 78);
    CHECK(failed.completed() == completed);
    CHECK_THAT(std::string(failed.what()), !Catch::Contains("a call that the servant made"));
  };
  check_failure(
      way, [completed] { throw CORBA::TRANSIENT(78, completed); }, check);
  const corelane::Error error{corelane::ErrorKind::transient, completed, 78};
  check_failure(
      way, [error] { corelane::core::raise_as_servant(error, "busy"); }, check);
}

TEMPLATE_LIST_TEST_CASE("any other exception becomes UNKNOWN and keeps its text to itself", "", InvocationWays) {
  if (!way_exists<TestType>()) return;
  TestType way;
  const auto how = GENERATE(corelane::testing::not_corba, corelane::testing::speechless);
  try {
    way.probe()->fail(how);
    FAIL("no exception");
  } catch (const CORBA::UNKNOWN& unknown) {
    CHECK(unknown.minor() == corelane::minor::servant_threw);
    CHECK(unknown.completed() == CORBA::COMPLETED_MAYBE);
    CHECK(std::string(unknown.what()).find("secret") == std::string::npos);
  }
}

TEMPLATE_LIST_TEST_CASE("an operation that the interface lacks is BAD_OPERATION", "", InvocationWays) {
  if (!way_exists<TestType>()) return;
  TestType way;
  CHECK_THROWS_AS(way.probe()->missing(), CORBA::BAD_OPERATION);
}

TEMPLATE_LIST_TEST_CASE("a deactivated object does not exist", "", InvocationWays) {
  if (!way_exists<TestType>()) return;
  TestType way;
  const auto probe = way.probe();
  probe->ping();
  way.poa()->deactivate_object(way.poa()->reference_to_id(way.server_reference()));
  CHECK_THROWS_AS(probe->ping(), CORBA::OBJECT_NOT_EXIST);
  CHECK(probe->_non_existent());
}

TEMPLATE_LIST_TEST_CASE("calls of several objects reach each its own, whichever was called before", "",
                        InvocationWays) {
  if (!way_exists<TestType>()) return;
  TestType way;
  const auto probe = way.probe();
  const PortableServer::ObjectId id(GENERATE(1u, 200u), 'o');
  const auto first = CORBA::make_reference<ProbeServant>();
  const auto second = CORBA::make_reference<ProbeServant>();
  way.poa()->activate_object_with_id(id, first);
  const auto other = probe->pass(IDL::traits<Probing::Probe>::narrow(way.poa()->id_to_reference(id)));
  for (int i = 0; i < 3; ++i) {
    probe->ping();
    other->ping();
    other->ping();
  }
  CHECK(way.servant().pings == 3);
  CHECK(first->pings == 6);
  way.poa()->deactivate_object(id);
  CHECK_THROWS_AS(other->ping(), CORBA::OBJECT_NOT_EXIST);
  way.poa()->activate_object_with_id(id, second);
  other->ping();
  CHECK(second->pings == 1);
  CHECK(first->pings == 6);
}

TEMPLATE_LIST_TEST_CASE("a discarding POAManager answers TRANSIENT and an inactive one OBJ_ADAPTER", "",
                        InvocationWays) {
  if (!way_exists<TestType>()) return;
  TestType way;
  const auto manager = way.poa()->the_POAManager();
  manager->discard_requests(false);
  CHECK_THROWS_AS(way.probe()->ping(), CORBA::TRANSIENT);
  manager->activate();
  way.probe()->ping();
  manager->deactivate(false, false);
  CHECK_THROWS_AS(way.probe()->ping(), CORBA::OBJ_ADAPTER);
  CHECK_THROWS_AS(manager->activate(), PortableServer::POAManager::AdapterInactive);
}

TEMPLATE_LIST_TEST_CASE("a holding POAManager lets requests wait until it is activated", "", InvocationWays) {
  if (!way_exists<TestType>()) return;
  TestType way;
  way.probe()->ping();
  const auto manager = way.poa()->the_POAManager();
  manager->hold_requests(true);
  std::atomic<bool> answered{false};
  std::jthread caller([&, probe = way.probe()] {
    CHECK(probe->add(2, 3) == 5);
    answered = true;
  });
  while (manager->manager_state()->waiting() == 0) std::this_thread::yield();
  CHECK_FALSE(answered);
  manager->activate();
  caller.join();
  CHECK(answered);
}
