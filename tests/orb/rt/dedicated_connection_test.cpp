// Tests a task's own connection: what goes over it, and what happens when it ends.
#include "tests/orb/rt/dedicated_connection.h"

#include "orb/os/clock.h"
#include "tests/support/modes.h"

namespace dedicated_connection_test {

using namespace corelane;
using namespace corelane::testing;
using dedicated_connection::Bound;
using dedicated_connection::Client;
using dedicated_connection::Peer;
using dedicated_connection::Served;
using dedicated_connection::unknown;
using namespace std::chrono_literals;

TEST_CASE("a client's task has a connection of its own where the server dispatches directly") {
  const bool direct = GENERATE(false, true);
  Served served({"-ORBDispatchMode", direct ? "direct" : "manager"});
  Client client(served);
  const auto task = client.admit();
  CHECK(served.report(task.id())->dedicated_connection == direct);
  CHECK(client.probe->add(1, 2) == 3);
  CHECK(client.probe->add(3, 4) == 7);
}

TEST_CASE("traffic on a task's own connection keeps the one that owns it") {
  constexpr auto idle = 300ms;
  Served served({"-ORBDispatchMode", "direct", "-ORBTimeoutIdle", "300ms"});
  const auto is_kept = [&] {
    Time answered = os::now();
    // This thread may be late. Then the server may close the connections, but never sooner.
    const auto was_late = [&] {
      REQUIRE(os::now() >= answered + idle);
      return false;
    };
    Peer owner(served), own(served);
    const auto grant = owner.admit_while_open();
    const auto refused = grant ? own.bind_while_open(*grant) : std::nullopt;
    if (refused != Error{}) return was_late();
    const Time begin = os::now();
    while (answered < begin + 3 * idle) {
      const Time asked = os::now();
      if (!own.is_answered(grant->task)) return was_late();
      answered = asked;
    }
    return !served.report(grant->task)->gone || was_late();
  };
  while (!is_kept()) continue;  // bound: a machine that lets this thread be in time once
}

TEST_CASE("a connection over which an answer is due is not idle, however long that takes") {
  const std::string mode = GENERATE(every_mode());
  if (mode == "manager") return;
  const bool channel = GENERATE(true, false);
  Served served({"-ORBDispatchMode", mode, "-ORBTimeoutIdle", "300ms"});
  Client client(served, {"-ORBClientChannel", channel ? "on" : "off"});
  std::thread call([&] { CHECK_NOTHROW(client.probe->block()); });
  served.server.servant->wait_until_blocked();
  Peer quiet(served);  // connected later: a connection that has been idle for longer is closed by then
  CHECK(quiet.closed_by_server());
  served.server.servant->release();
  call.join();
}

TEST_CASE("a task takes jobs from its own connection and from the one that owns it") {
  Bound task;
  CHECK(task.own.add(task.grant.task) == Error{});
  CHECK(task.owner.add(task.grant.task) == Error{});
  CHECK(task.own.add(task.grant.task) == Error{});
}

TEST_CASE("a request that needs no servant is answered on a task's own connection as on any other") {
  Bound task;
  CHECK(task.own.ping() == Error{});
  CHECK(task.own.add(task.grant.task) == Error{});
}

TEST_CASE("a task that loses its own connection goes on over the one that owns it") {
  Bound task;
  task.own.close();
  task.wait_until_shared(task.grant.task);
  CHECK(task.owner.add(task.grant.task) == Error{});
  CHECK_FALSE(task.report(task.grant.task)->gone);
}

TEST_CASE("the newest connection is the task's, and the one before is closed") {
  Bound task;
  const auto grant = task.owner.offer(task.grant.task);
  REQUIRE(grant);
  Peer newer(task);
  CHECK(newer.bind(*grant) == Error{});
  CHECK(task.own.closed_by_server());
  CHECK(newer.add(task.grant.task) == Error{});
  CHECK(task.report(task.grant.task)->dedicated_connection);
}

TEST_CASE("a task leaves with the connection that owns it, and its own is closed") {
  Bound task;
  task.owner.close();
  task.wait_until_gone(task.grant.task);
  CHECK(task.own.closed_by_server());
}

TEST_CASE("a task that departs closes its own connection") {
  Bound task;
  task.owner.depart(task.grant.task);
  CHECK(task.own.closed_by_server());
}

// Error paths: a peer that lies, stalls, or sends nonsense.

TEST_CASE("over a task's own connection it still runs no other operation") {
  Bound task;
  CHECK(task.own.ping(task.grant.task) == unknown);
}

TEST_CASE("garbage on a task's own connection is MessageError and the end of it, not of the task") {
  Bound task;
  task.own.send_bytes("GET / HTTP/1.1\r\n\r\n");
  const auto message = task.own.next();
  REQUIRE(message);
  CHECK(message->header.type == giop::MessageType::message_error);
  CHECK(task.own.closed_by_server());
  CHECK(task.owner.add(task.grant.task) == Error{});
}

TEST_CASE("a peer that stalls in the middle of a message on a task's own connection is cut off") {
  Bound task({"-ORBTimeoutHeader", "20ms"});
  task.own.send_half_a_request();
  CHECK(task.own.closed_by_server());
  CHECK(task.owner.add(task.grant.task) == Error{});
}

}  // namespace dedicated_connection_test
