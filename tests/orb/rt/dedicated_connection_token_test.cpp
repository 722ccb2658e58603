// Tests tokens, which decide which peer may have a task's own connection.
#include <sys/resource.h>
#include <unistd.h>

#include "orb/os/fd.h"
#include "tests/orb/rt/dedicated_connection.h"

namespace dedicated_connection_token_test {

using namespace corelane;
using namespace corelane::testing;
using dedicated_connection::Bound;
using dedicated_connection::bound;
using dedicated_connection::Peer;
using dedicated_connection::Served;
using dedicated_connection::unknown;
using namespace std::chrono_literals;

namespace {

// Until destruction, this process cannot open another descriptor.
class NoMoreDescriptors {
 public:
  NoMoreDescriptors() {
    REQUIRE(getrlimit(RLIMIT_NOFILE, &before_) == 0);
    const os::Fd next(dup(0));  // the lowest free number
    REQUIRE(next);
    const rlimit none{.rlim_cur = static_cast<rlim_t>(next.get()), .rlim_max = before_.rlim_max};
    REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
  }
  NoMoreDescriptors(const NoMoreDescriptors&) = delete;
  NoMoreDescriptors& operator=(const NoMoreDescriptors&) = delete;
  ~NoMoreDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

}  // namespace

TEST_CASE("a server that has no descriptors left offers no connection") {
  Served served;
  Peer owner(served);
  CHECK(owner.ping() == Error{});  // so the server has accepted the connection
  const NoMoreDescriptors none;
  const auto grant = owner.admit();
  CHECK(grant.token == 0);
  CHECK(owner.add(grant.task) == Error{});
}

TEST_CASE("a task that has lost its own connection is given another for a new token") {
  Bound task;
  const TaskId id = task.grant.task;
  task.own.close();
  task.wait_until_shared(id);
  const auto grant = task.owner.offer(id);
  REQUIRE(grant);
  Peer again(task);
  CHECK(again.bind(*grant) == Error{});
  CHECK(again.add(id) == Error{});
  CHECK(task.report(id)->dedicated_connection);
}

TEST_CASE("a token that was not issued binds nothing, and the connection stays what it was") {
  Served served;
  Peer owner(served), stranger(served);
  const auto grant = owner.admit();
  REQUIRE(grant.token != 0);
  CHECK(stranger.bind({grant.task, grant.token ^ 1}) == unknown);
  CHECK(stranger.bind({grant.task, 0}) == unknown);
  CHECK(stranger.bind({TaskId{grant.task.value + 1000}, grant.token}) == unknown);
  CHECK(stranger.ping() == Error{});
  CHECK(owner.add(grant.task) == Error{});
}

TEST_CASE("a token is good once") {
  Bound task;
  Peer thief(task);
  CHECK(thief.bind(task.grant) == unknown);
  CHECK(task.own.add(task.grant.task) == Error{});
}

TEST_CASE("a token that is offered later makes the one before worth nothing, and is good once") {
  Served served;
  Peer owner(served), own(served), thief(served);
  const auto first = owner.admit();
  const auto second = owner.offer(first.task);
  REQUIRE(second);
  CHECK(thief.bind(first) == unknown);
  CHECK(own.bind(*second) == Error{});
  CHECK(thief.bind(*second) == unknown);
}

TEST_CASE("another token is for the owner of the task") {
  Bound task;
  Peer stranger(task);
  CHECK_FALSE(stranger.offer(task.grant.task));
  CHECK(stranger.refused == unknown);
  CHECK_FALSE(task.own.offer(task.grant.task));
  CHECK(task.own.refused == unknown);
  CHECK_FALSE(task.owner.offer(no_task));
  task.owner.depart(task.grant.task);
  CHECK_FALSE(task.owner.offer(task.grant.task));
}

TEST_CASE("a token is worth nothing when its task has left") {
  Served served;
  Peer owner(served), late(served);
  const auto grant = owner.admit();
  owner.depart(grant.task);
  CHECK(late.bind(grant) == unknown);
}

TEST_CASE("in manager mode there is no token") {
  Served served({"-ORBDispatchMode", "manager"});
  Peer owner(served), other(served);
  const auto grant = owner.admit();
  CHECK(grant.token == 0);
  CHECK(owner.offer(grant.task)->token == 0);
  CHECK(other.bind(grant) == unknown);
}

TEST_CASE("a connection that has tasks of its own is not bound, and a bound one admits none") {
  Bound task;
  Peer other(task);
  const auto grant = other.admit();
  CHECK(other.bind(grant) == bound);
  CHECK(task.own.admit_again() == bound);
  CHECK(task.own.bind(grant) == bound);
  CHECK(other.add(grant.task) == Error{});
}

}  // namespace dedicated_connection_token_test
