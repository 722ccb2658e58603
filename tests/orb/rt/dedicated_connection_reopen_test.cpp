// Tests the client of a task that loses the task's own connection and opens another.
#include <memory>

#include "orb/os/clock.h"
#include "tests/orb/rt/dedicated_connection.h"

namespace dedicated_connection_reopen_test {

using namespace corelane;
using namespace corelane::testing;
using dedicated_connection::Client;
using dedicated_connection::Peer;
using dedicated_connection::Served;
using namespace std::chrono_literals;

namespace {

const Time later = os::now() + 1h;  // so that an attempt is due

}  // namespace

TEST_CASE("a client whose task loses its own connection goes on over the shared one") {
  Served served;
  Client client(served);
  const auto task = client.admit();
  const auto binding = client.probe->_reference()->binding_of("add");
  const auto own = binding->connection();
  CHECK(client.probe->add(1, 2) == 3);
  own->close();
  CHECK(client.probe->add(3, 4) == 7);
  CHECK(binding->connection() != own);
}

TEST_CASE("a client whose task loses its own connection opens another, each time") {
  Served served;
  Client client(served);
  const auto task = client.admit();
  for (int times = 0; times < 2; ++times) {
    const auto lost = client.binding()->connection();
    lost->close();
    CHECK(client.probe->add(3, 4) == 7);
    client.call_until_it_has_own();
    CHECK(client.binding()->connection() != lost);
    CHECK(served.report(task.id())->dedicated_connection);
    CHECK(client.probe->add(5, 6) == 11);
  }
}

TEST_CASE("a client that could have no connection for its task at first opens one as soon as it can") {
  Served served({"-ORBDispatchMode", "direct", "-ORBLimitsConnections", "2"});
  Peer other(served);
  const auto grant = other.admit();  // without a task, its connection could be closed to make room
  CHECK(grant.token != 0);
  Client client(served);
  const auto task = client.admit();
  CHECK_FALSE(client.has_own());
  other.close();
  served.wait_until_gone(grant.task);
  client.call_until_it_has_own();
  CHECK(served.report(task.id())->dedicated_connection);
}

TEST_CASE("a lost connection is closed by the thread that opens the next one, not by a caller") {
  Served served;
  Client client(served);
  const auto task = client.admit();
  const auto binding = client.unwatched_binding(task);
  REQUIRE(binding->reopen(later) == never);
  const std::weak_ptr<core::ClientConnection> lost = binding->connection();
  REQUIRE(lost.lock() != binding->connection(true));
  lost.lock()->close();
  CHECK(binding->connection() == binding->connection(true));
  CHECK_FALSE(lost.expired());
  auto used = lost.lock();  // stands for a call that has not ended
  CHECK(binding->reopen(later + 1h) == later + 1h + core::ReopenPause::first);
  CHECK(binding->connection() != binding->connection(true));
  used.reset();
  CHECK_FALSE(lost.expired());
  CHECK(binding->reopen(later + 2h) == never);
  CHECK(lost.expired());
}

TEST_CASE("a task that has departed has no connection opened again") {
  Served served;
  Client client(served);
  auto task = client.admit();
  const TaskId id = task.id();
  const auto binding = client.unwatched_binding(task);
  task.depart();
  served.wait_until_gone(id);
  binding->depart();
  CHECK(binding->reopen(later) == never);
  CHECK(binding->connection() == binding->connection(true));
}

TEST_CASE("a task's own connection ends with the ORB of its client") {
  Served served;
  auto client = std::make_unique<Client>(served);
  const auto task = client->admit();
  const auto own = client->probe->_reference()->binding_of("add")->connection();
  REQUIRE(own->usable(os::now()));
  client->orb->destroy();
  CHECK_FALSE(own->usable(os::now()));
}

TEST_CASE("a client that gets no connection for its task calls over the shared one") {
  Served served({"-ORBDispatchMode", "direct", "-ORBLimitsConnections", "1"});
  Client client(served);
  const auto task = client.admit();
  CHECK_FALSE(served.report(task.id())->dedicated_connection);
  CHECK(client.probe->add(1, 2) == 3);
}

}  // namespace dedicated_connection_reopen_test
