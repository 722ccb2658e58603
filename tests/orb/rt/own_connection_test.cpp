// The connection that a task has for itself: how it comes to it, who may not have it, and what happens when it goes.
#include <sys/resource.h>
#include <unistd.h>

#include <thread>

#include "orb/base/minor.h"
#include "orb/core/reference.h"
#include "orb/core/task_binding.h"
#include "orb/giop/corelane_contexts.h"
#include "orb/os/clock.h"
#include "orb/os/fd.h"
#include "orb/rt/rt.h"
#include "tests/support/bare_wire.h"
#include "tests/support/probe_servant.h"

namespace own_connection_test {

using namespace corelane;
using namespace corelane::testing;
using namespace std::chrono_literals;

namespace {

constexpr Error unknown{ErrorKind::bad_param, Completion::no, minor::unknown_task};
const Time later = os::now() + 1h;  // an attempt is due
constexpr Error bound{ErrorKind::bad_inv_order, Completion::no, minor::connection_bound};

struct Served {
  explicit Served(std::vector<std::string> options = {"-ORBDispatchMode", "direct"}) : server(std::move(options)) {}
  std::optional<dispatch::TaskReport> report(TaskId task) {
    for (const auto& report : rt::report(*server.orb.orb).tasks)
      if (report.task == task) return report;
    return std::nullopt;
  }
  // Bound: the server's threads, which carry out departures.
  void wait_until_gone(TaskId task) {
    while (!report(task)->gone) std::this_thread::yield();
  }
  // Bound: the task's thread, which finds the end of its connection.
  void wait_until_shared(TaskId task) {
    while (report(task)->own_connection) std::this_thread::yield();
  }

  ProbeServer server;
  std::vector<std::byte> key = server.reference->_reference()->address()->object_key;
  Wires wires;
};

// As long as it lives this process can open nothing more.
class NoMoreDescriptors {
 public:
  NoMoreDescriptors() {
    REQUIRE(getrlimit(RLIMIT_NOFILE, &before_) == 0);
    const os::Fd next(dup(0));  // the lowest number that is free
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

// One bare connection.
class Peer {
 public:
  explicit Peer(Served& served) : served_(served), wire_(served.wires, served.server.orb->endpoints().front()) {}

  struct Grant {
    TaskId task;
    std::uint64_t token;
  };
  // For add().
  Grant admit() {
    auto reply = ask("_corelane_admit", {.contract = make_contract(10ms, 100us)},
                     [](cdr::Writer& writer) { writer.write_string("add"); });
    REQUIRE(reply.header.status == giop::ReplyStatus::no_exception);
    std::int16_t core = 0;
    std::int32_t priority = 0;
    std::uint64_t response = 0, token = 0;
    REQUIRE(
        (reply.body.read(core) && reply.body.read(priority) && reply.body.read(response) && reply.body.read(token)));
    return {giop::decode_contract(*reply.header.contexts.find(giop::context::contract))->task, token};
  }
  Error bind(const Grant& grant) {
    return outcome(ask("_corelane_bind", {}, [&](cdr::Writer& writer) {
      writer.write(grant.task.value);
      writer.write(grant.token);
    }));
  }
  // Another token for the task. Null: the error in `refused`.
  std::optional<Grant> offer(TaskId task) {
    auto reply = ask("_corelane_offer", {}, [&](cdr::Writer& writer) { writer.write(task.value); });
    if (reply.header.status != giop::ReplyStatus::no_exception) return refused = outcome(reply), std::nullopt;
    std::uint64_t token = 0;
    REQUIRE(reply.body.read(token));
    return Grant{task, token};
  }
  Error refused{};
  Error admit_again() {
    return outcome(ask("_corelane_admit", {.contract = make_contract(10ms, 100us)},
                       [](cdr::Writer& writer) { writer.write_string("add"); }));
  }
  // add(20, 22), as a job of the task.
  Error add(TaskId task) {
    auto reply = ask("add", {.task = task, .job = JobId{1}, .contract = {}}, [](cdr::Writer& writer) {
      writer.write(std::int32_t{20});
      writer.write(std::int32_t{22});
    });
    if (reply.header.status != giop::ReplyStatus::no_exception) return outcome(reply);
    std::int32_t sum = 0;
    CHECK(reply.body.read(sum));
    CHECK(sum == 42);
    return {};
  }
  // False: the connection has gone.
  bool is_answered(TaskId task) {
    write_request("ping", {.task = task, .job = JobId{1}, .contract = {}}, [](cdr::Writer&) {});
    if (!wire_.send(writer_)) return false;
    message_ = wire_.next();
    return message_.has_value();
  }
  Error ping(TaskId task = no_task) {
    return outcome(ask("ping", {.task = task, .job = JobId{1}, .contract = {}}, [](cdr::Writer&) {}));
  }
  void depart(TaskId task) {
    CHECK(outcome(ask("_corelane_depart", {}, [&](cdr::Writer& writer) { writer.write(task.value); })) == Error{});
  }
  void send_bytes(std::string_view text) { REQUIRE(wire_.send(std::as_bytes(std::span(text)))); }
  void send_half_a_request() {
    write_request("ping", {}, [](cdr::Writer&) {});
    REQUIRE(giop::finish(writer_));
    REQUIRE(wire_.send(writer_.bytes().first(20)));
  }
  std::optional<giop::Message> next() { return wire_.next(); }
  bool closed_by_server() { return wire_.closed_by_peer(); }
  void close() { wire_.close(); }

 private:
  using Reply = giop::Parsed<giop::ReplyHeader>;

  template <typename Arguments>
  void write_request(std::string_view operation, const giop::ContractContext& content, Arguments arguments) {
    const auto context = giop::encode_contract(content);
    const giop::ServiceContext contexts[] = {{giop::context::contract, context}};
    begin_request(writer_, ++id_, served_.key, operation, giop::giop_1_2, native_order, contexts);
    arguments(writer_);
  }
  template <typename Arguments>
  Reply ask(std::string_view operation, const giop::ContractContext& content, Arguments arguments) {
    write_request(operation, content, arguments);
    REQUIRE(wire_.send(writer_));
    message_ = wire_.next();
    REQUIRE(message_);
    auto reply = giop::parse_reply(*message_, {});
    REQUIRE(reply);
    REQUIRE(reply->header.request_id == id_);
    return *reply;
  }
  static Error outcome(Reply reply) {
    if (reply.header.status == giop::ReplyStatus::no_exception) return {};
    return *giop::decode_system_exception(reply.body);
  }

  Served& served_;
  Wire wire_;
  cdr::Writer writer_;
  std::uint32_t id_ = 0;
  std::optional<giop::Message> message_;
};

// A task with its two connections.
struct Bound : Served {
  explicit Bound(std::vector<std::string> options = {}) : Served(direct(std::move(options))) {
    REQUIRE(own.bind(grant) == Error{});
  }
  static std::vector<std::string> direct(std::vector<std::string> options) {
    options.insert(options.end(), {"-ORBDispatchMode", "direct"});
    return options;
  }

  Peer owner{*this}, own{*this};
  Peer::Grant grant = owner.admit();
};

// A client in an ORB of its own.
struct Client {
  explicit Client(Served& served) : probe(probe_of(orb, served.server.ior())) {}
  rt::Task admit() {
    auto task = rt::admit(probe, {.operation = "add", .contract = make_contract(1ms, 100us)});
    REQUIRE(task);
    return std::move(*task);
  }

  std::shared_ptr<core::TaskBinding> binding() { return probe->_reference()->binding_of("add"); }
  // Another of the same task, for which no Reopener cares.
  std::shared_ptr<core::TaskBinding> unwatched_binding(const rt::Task& task) {
    return std::make_shared<core::TaskBinding>(probe->_reference(), "add", task.id(), binding()->connection(true),
                                               make_contract(1ms, 100us));
  }
  bool has_own() { return binding()->connection() != binding()->connection(true); }
  // Calls meanwhile. Bound: the pause between two attempts.
  void call_until_it_has_own() {
    do {
      CHECK(probe->add(1, 2) == 3);
      std::this_thread::yield();
    } while (!has_own());
  }

  TestOrb orb;
  CORBA::object_reference<Probing::Probe> probe;
};

}  // namespace

TEST_CASE("a client's task has a connection of its own where the server dispatches directly") {
  const bool direct = GENERATE(false, true);
  Served served({"-ORBDispatchMode", direct ? "direct" : "manager"});
  Client client(served);
  const auto task = client.admit();
  CHECK(served.report(task.id())->own_connection == direct);
  CHECK(client.probe->add(1, 2) == 3);
  CHECK(client.probe->add(3, 4) == 7);
}

TEST_CASE("traffic on a task's own connection keeps the one that owns it") {
  constexpr auto idle = 300ms;
  Served served({"-ORBDispatchMode", "direct", "-ORBTimeoutIdle", "300ms"});
  Peer owner(served), own(served);
  const auto grant = owner.admit();
  REQUIRE(own.bind(grant) == Error{});
  const Time begin = os::now();
  // Nobody keeps this thread from being late; then the task may go, but never sooner.
  Time answered = begin;
  while (answered < begin + 3 * idle) {
    const Time asked = os::now();
    if (!own.is_answered(grant.task)) {
      CHECK(os::now() >= answered + idle);
      return;
    }
    answered = asked;
  }
  const bool gone = served.report(grant.task)->gone;
  CHECK((!gone || os::now() >= answered + idle));
}

TEST_CASE("a task takes jobs from its own connection and from the one that owns it") {
  Bound task;
  CHECK(task.own.add(task.grant.task) == Error{});
  CHECK(task.owner.add(task.grant.task) == Error{});
  CHECK(task.own.add(task.grant.task) == Error{});
}

TEST_CASE("what needs no servant is answered on a task's own connection as on any other") {
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
    CHECK(served.report(task.id())->own_connection);
    CHECK(client.probe->add(5, 6) == 11);
  }
}

TEST_CASE("a client that could have no connection for its task at first opens one as soon as it can") {
  Served served({"-ORBDispatchMode", "direct", "-ORBLimitsConnections", "2"});
  Peer other(served);
  const auto grant = other.admit();  // or it would have to make place
  CHECK(grant.token != 0);
  Client client(served);
  const auto task = client.admit();
  CHECK_FALSE(client.has_own());
  other.close();
  served.wait_until_gone(grant.task);
  client.call_until_it_has_own();
  CHECK(served.report(task.id())->own_connection);
}

TEST_CASE("a lost connection is closed by who opens the next one, not by a caller") {
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
  auto used = lost.lock();  // as by a call that has not ended
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
  REQUIRE(own->usable());
  client->orb->destroy();
  CHECK_FALSE(own->usable());
}

TEST_CASE("a client that gets no connection for its task calls over the shared one") {
  Served served({"-ORBDispatchMode", "direct", "-ORBLimitsConnections", "1"});
  Client client(served);
  const auto task = client.admit();
  CHECK_FALSE(served.report(task.id())->own_connection);
  CHECK(client.probe->add(1, 2) == 3);
}

// What a server without descriptors does not accept its client would wait for.
TEST_CASE("a server that has no descriptors left offers no connection") {
  Served served;
  Peer owner(served);
  CHECK(owner.ping() == Error{});  // the server has accepted it
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
  CHECK(task.report(id)->own_connection);
}

TEST_CASE("the newest connection is the task's, and the one before is closed") {
  Bound task;
  const auto grant = task.owner.offer(task.grant.task);
  REQUIRE(grant);
  Peer newer(task);
  CHECK(newer.bind(*grant) == Error{});
  CHECK(task.own.closed_by_server());
  CHECK(newer.add(task.grant.task) == Error{});
  CHECK(task.report(task.grant.task)->own_connection);
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

// Error paths: a peer that lies, stalls, or talks nonsense.

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

TEST_CASE("another token is for who owns the task") {
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

}  // namespace own_connection_test
