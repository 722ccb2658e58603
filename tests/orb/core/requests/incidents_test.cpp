// Tests what the log says about failures on threads that may not write to it.
#include "orb/core/requests/incidents.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>
#include <thread>

#include "orb/base/minor.h"
#include "orb/rt/rt.h"
#include "tests/support/modes.h"
#include "tests/support/probe_servant.h"
#include "tests/support/system/captured_errors.h"

namespace incidents_test {

using namespace corelane;
using namespace corelane::core;
using namespace corelane::testing;
using namespace std::chrono_literals;

namespace {

using Kind = Incidents::Kind;

constexpr Error overloaded{ErrorKind::transient, Completion::no, minor::queue_full};
constexpr Time start{10s};
constexpr const char* ids[] = {"IDL:Plant/Controller:1.0"};
constexpr Skeleton skeleton{.ids = ids, .upcalls = {}};
constexpr Upcall step{.name = "step"}, stop{.name = "stop"};

ServantFailure failure_of(const Upcall& upcall, ErrorKind answer, std::string_view text) {
  return {.skeleton = skeleton, .upcall = upcall, .answer = answer, .text = text};
}

}  // namespace

TEST_CASE("the first dropped oneway is told at once and the next ones together after a while") {
  Incidents incidents;
  CHECK(incidents.note(Kind::oneway_dropped, "note", start, overloaded));
  CHECK(incidents.lines(start).at(0) ==
        "1 oneway request was dropped since the last such line, the last (note) because of TRANSIENT: " +
            std::string(minor::text(minor::queue_full)));
  CHECK_FALSE(incidents.note(Kind::oneway_dropped, "note", start + 1ns, overloaded));
  CHECK_FALSE(incidents.note(Kind::oneway_dropped, "note", start + Incidents::quiet - 1ns, overloaded));
  CHECK(incidents.note(Kind::oneway_dropped, "note", start + Incidents::quiet, overloaded));
  CHECK_THAT(incidents.lines(start + Incidents::quiet).at(0), Catch::StartsWith("3 oneway requests were dropped"));
  CHECK(incidents.dropped_oneways() == 4);
}

TEST_CASE("an exception of a servant is reported with its operation and how often it came") {
  Incidents incidents;
  CHECK(incidents.servant_threw(failure_of(step, ErrorKind::unknown, "valve stuck"), start));
  CHECK(incidents.lines(start).at(0) ==
        "a servant threw, and its caller gets UNKNOWN: Plant/Controller.step: valve stuck");
  incidents.servant_threw(failure_of(step, ErrorKind::unknown, "valve stuck"), start + 1s);
  incidents.servant_threw(failure_of(stop, ErrorKind::transient, "gone"), start + 1s);
  CHECK_THAT(incidents.lines(start + 1s).at(0),
             Catch::EndsWith("gets TRANSIENT: Plant/Controller.stop: gone (the last of 2 since the last such line)"));
}

TEST_CASE("the line about a servant that threw in a oneway does not claim that its caller gets an exception") {
  Incidents incidents;
  ServantFailure failure = failure_of(step, ErrorKind::unknown, "boom");
  failure.answered = false;
  incidents.servant_threw(failure, start);
  CHECK(incidents.lines(start).at(0) ==
        "a servant threw in a oneway request, and the client does not learn of it: Plant/Controller.step: boom");
}

TEST_CASE("clients that were cut off are told with the last reason") {
  Incidents incidents;
  CHECK(incidents.note(Kind::client_cut_off, "", start, {ErrorKind::imp_limit, Completion::no, minor::half_messages}));
  CHECK(incidents.note(Kind::client_cut_off, "", start, {ErrorKind::transient, Completion::no, minor::send_stalled}));
  CHECK_THAT(incidents.lines(start).at(0),
             Catch::StartsWith("2 clients were cut off since the last such line, the last because of TRANSIENT: "));
  CHECK(incidents.lines(start).empty());
  CHECK(incidents.cut_off_clients() == 2);
}

TEST_CASE("requests that a POA's manager holds are told with the way out") {
  Incidents incidents;
  CHECK(incidents.note(Kind::request_held, "step", start));
  CHECK(incidents.lines(start).at(0) ==
        "a request for step came while the manager of its POA was holding: such requests wait until "
        "the_POAManager()->activate()");
  CHECK_FALSE(incidents.note(Kind::request_held, "step", start + 1ns));
  CHECK(incidents.note(Kind::request_held, "stop", start + 1s));
  CHECK_THAT(incidents.lines(start + 1s).at(0),
             Catch::StartsWith("a request for stop (the last of 2 since the last such line) came"));
}

// Edges.

TEST_CASE("nothing that happened is nothing to tell and nothing is told twice") {
  Incidents incidents;
  CHECK(incidents.lines(start).empty());
  incidents.note(Kind::oneway_dropped, "note", start, overloaded);
  CHECK(incidents.lines(start).size() == 1);
  CHECK(incidents.lines(start + 1h).empty());
}

TEST_CASE("a text that is long or has control characters stays one short line") {
  Incidents incidents;
  incidents.servant_threw(failure_of(step, ErrorKind::unknown, std::string(10'000, 'x') + "\n"), start);
  CHECK(incidents.lines(start).at(0).size() < 400);
  incidents.servant_threw(failure_of(step, ErrorKind::unknown, "two\nlines\x1b[31m"), start + 1s);
  CHECK_THAT(incidents.lines(start + 1s).at(0), Catch::EndsWith("step: two?lines?[31m"));
}

// In a server.

TEST_CASE("a servant's own exception goes to the server's log and not to the client") {
  const CapturedErrors errors;
  {
    ProbeServer server;
    TestOrb client;
    const auto remote = probe_of(client, server.ior());
    CHECK_THROWS_AS(remote->fail(not_corba), CORBA::UNKNOWN);
    CHECK_THROWS_AS(remote->fail(not_corba), CORBA::UNKNOWN);
  }
  CHECK(errors.times("fail: a secret of the server") >= 1);
  CHECK(errors.times("a servant threw, and its caller gets UNKNOWN") <= 2);
}

TEST_CASE("a oneway request that is dropped is counted in the report and told by the log") {
  const CapturedErrors errors;
  {
    ProbeServer server;
    TestOrb client;
    const auto remote = probe_of(client, server.ior());
    server.orb.root()->deactivate_object(server.orb.root()->reference_to_id(server.reference));
    remote->note("nobody hears it");
    CHECK(remote->_non_existent());  // the same reader answers it after the oneway
    CHECK(rt::report(*server.orb.orb).dropped_oneways == 1);
  }
  CHECK(errors.times("1 oneway request was dropped") == 1);
  CHECK(errors.times("the last (note) because of OBJECT_NOT_EXIST") == 1);
  CHECK(errors.times("OBJECT_NOT_EXIST: no object with this key is active here") == 1);
}

TEST_CASE("the servant's exception of a collocated call is logged as well") {
  const CapturedErrors errors;
  {
    ProbeServer server;
    CHECK_THROWS_AS(server.reference->fail(not_corba), CORBA::UNKNOWN);
  }
  CHECK(errors.times("a servant threw, and its caller gets UNKNOWN") == 1);
}

TEST_CASE("a POA manager that was never activated is told by the log once for all requests that wait") {
  const bool is_local = GENERATE(false, true);
  const CapturedErrors errors;
  {
    TestOrb server(in_each_mode()), client({"-ORBTimeoutRequest", "20ms"});
    const auto servant = CORBA::make_reference<ProbeServant>();
    const auto local = IDL::traits<Probing::Probe>::narrow(server.root()->servant_to_reference(servant));
    const auto remote = probe_of(client, server->object_to_string(local));
    std::thread waiting;
    if (is_local) waiting = std::thread([&] { local->ping(); });
    for (int i = 0; i < (is_local ? 0 : 2); ++i) CHECK_THROWS_AS(remote->ping(), CORBA::TIMEOUT);
    while (errors.times("until the_POAManager()->activate()") == 0) std::this_thread::yield();
    server.root()->the_POAManager()->activate();
    if (waiting.joinable()) waiting.join();
    CHECK(errors.times("a request for ping came") == 1);
    server.root()->the_POAManager()->hold_requests(true);
    CHECK_THROWS_AS(remote->add(1, 2), CORBA::TIMEOUT);
    server.root()->the_POAManager()->activate();
  }
  CHECK(errors.times("until the_POAManager()->activate()") == 2);  // a ping() that was under way may be the second
}

}  // namespace incidents_test
