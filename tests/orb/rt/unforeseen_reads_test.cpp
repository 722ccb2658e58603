// Tests clients that send what no contract covers. They have tasks or none, and they run beside a task and beside
// well-behaved clients. The tests check which reads the reader defers, and for which client.
#include <dlfcn.h>
#include <sys/epoll.h>

#include <atomic>
#include <cerrno>
#include <optional>
#include <thread>
#include <utility>

#include "orb/core/client/reference.h"
#include "orb/core/runtime.h"
#include "orb/giop/corelane_contexts.h"
#include "orb/rt/rt.h"
#include "orb/transport/socket_transport.h"
#include "tests/support/modes.h"
#include "tests/support/peers/bare_wire.h"
#include "tests/support/probe_servant.h"
#include "tests/support/system/temp_directory.h"

namespace unforeseen_reads_test {
namespace {

std::atomic<bool> moves_fail{false};
std::atomic<int> moves{0};  // how many were tried since then

}  // namespace

// Replaces the system's function. Only the threads that serve where they read add a descriptor without events.
extern "C" int epoll_ctl(int poll, int operation, int descriptor, epoll_event* event) noexcept {
  if (operation == EPOLL_CTL_ADD && event->events == 0) {
    ++moves;
    if (moves_fail) return errno = ENOSPC, -1;
  }
  using Original = int (*)(int, int, int, epoll_event*);
  static const auto original = reinterpret_cast<Original>(dlsym(RTLD_NEXT, "epoll_ctl"));
  return original(poll, operation, descriptor, event);
}

using namespace corelane;
using namespace corelane::testing;
using namespace std::chrono_literals;

namespace {

using transport::TransportKind;
namespace kinds = transport::kinds;

// The reader of this process.
class OwnReader {
 public:
  ~OwnReader() { runtime_->leave(); }
  transport::Reactor& operator*() { return *runtime_->reactor().value(); }
  transport::Reactor* operator->() { return &**this; }

 private:
  std::shared_ptr<core::Runtime> runtime_ = core::Runtime::of_process();
};

// A connection without an ORB.
class Bare {
 public:
  Bare(transport::Transport& transport, const transport::Endpoint& to, std::vector<std::byte> key)
      : key_(std::move(key)), stream_(transport.connect(to, os::now() + long_enough).value()), wire_(stream_) {}

  // Admits a task and runs one job of it, so that the reader reads the connection from then on.
  void take_task() {
    const auto asked = giop::encode_contract({.contract = make_contract(1s, 1ms)});
    cdr::Writer writer;
    begin(writer, "_corelane_admit", asked);
    writer.write_string("add");
    REQUIRE(wire_.send(writer));
    const auto message = wire_.next();
    REQUIRE(message);
    const auto reply = giop::parse_reply(*message, {});
    const auto context = reply->header.contexts.find(giop::context::contract);
    REQUIRE(context);
    task_ = giop::encode_contract({.task = giop::decode_contract(*context)->task, .contract = {}});
    call_task();
    REQUIRE(wire_.next());
  }
  void call_task() {
    cdr::Writer writer;
    begin(writer, "add", task_);
    writer.write(std::int32_t{1});
    writer.write(std::int32_t{2});
    REQUIRE(wire_.send(writer));
  }
  // Calls paced(), for which the server has a task that all its callers share.
  void call_paced() {
    cdr::Writer writer;
    begin(writer, "paced");
    writer.write(std::int32_t{1});
    REQUIRE(wire_.send(writer));
    REQUIRE(wire_.next());
  }
  // Sends `count` requests for unknown operations at once. Returns how many were answered.
  int ask_unknown(int count) {
    std::vector<std::byte> all;
    for (int i = 0; i < count; ++i) add_unknown(all);
    REQUIRE(wire_.send(all));
    int answered = 0;
    while (answered < count && wire_.next()) ++answered;
    return answered;
  }

  // Sends unknown operations and drops the answers, until `stop`.
  void flood(const std::atomic<bool>& stop) {
    std::vector<std::byte> batch;
    for (int i = 0; i < 16; ++i) add_unknown(batch);
    const Bytes part = batch;
    std::vector<std::byte> answers(65536);
    while (!stop.load()) {
      std::uint64_t position = 0;
      (void)stream_->send_by(os::now() + 1ms, std::span{&part, 1}, position);
      while (const auto got = stream_->receive(answers, Time{}, {}))
        if (*got == 0) return;
    }
  }

 private:
  void begin(cdr::Writer& writer, std::string_view operation, std::optional<Bytes> contract = {}) {
    const giop::ServiceContext context{giop::context::contract, contract.value_or(Bytes{})};
    begin_request(writer, ++last_id_, key_, operation, giop::giop_1_2, native_order, {&context, contract ? 1u : 0u});
  }

  void add_unknown(std::vector<std::byte>& to) {
    cdr::Writer writer;
    begin(writer, "no_such_operation");
    (void)giop::finish(writer);
    to.insert(to.end(), writer.bytes().begin(), writer.bytes().end());
  }

  const std::vector<std::byte> key_;
  giop::ContractBytes task_;
  const std::shared_ptr<transport::Connection> stream_;
  Wire wire_;
  std::uint32_t last_id_ = 0;
};

struct Served {
  explicit Served(std::vector<std::string> options)
      : server(with_all_transports(std::move(options))), client({"-ORBEndpointLocal", "off"}) {}

  transport::Endpoint endpoint(const TransportKind* kind) {
    for (const auto& endpoint : server.orb->endpoints())
      if (endpoint.kind == kind) return endpoint;
    FAIL("the server does not listen there");
    return {};
  }
  std::vector<std::byte> key() {
    return server.orb->string_to_object(server.ior())->_reference()->address()->object_key;
  }
  // Returns one connection for each transport.
  std::vector<std::unique_ptr<Bare>> connections() {
    std::vector<std::unique_ptr<Bare>> made;
    for (const TransportKind* const kind : {&kinds::tcp, &kinds::unix_socket, &kinds::channel})
      made.push_back(std::make_unique<Bare>(transport, endpoint(kind), key()));
    return made;
  }
  std::vector<std::string> with_all_transports(std::vector<std::string> options) {
    options.insert(options.end(),
                   {"-ORBEndpointListen", "127.0.0.1:0, unix:" + directory / "s" + ", channel:" + directory / "c"});
    return options;
  }

  const TempDirectory directory{};
  std::unique_ptr<transport::Reactor> reactor = std::move(*transport::Reactor::start());
  transport::SocketTransport transport{*reactor};
  ProbeServer server;
  TestOrb client;
};

// Until destruction, no connection can be moved to the threads that serve where they read.
struct FailingMoves {
  FailingMoves() { moves = 0, moves_fail = true; }
  ~FailingMoves() { moves_fail = false; }
};

// Threads that flood until destruction.
class Floods {
 public:
  ~Floods() { stop_.store(true); }
  void add(std::unique_ptr<Bare> connection) {
    threads_.emplace_back([this, connection = std::move(connection)] { connection->flood(stop_); });
  }

 private:
  std::atomic<bool> stop_{false};
  std::vector<std::jthread> threads_;
};

const dispatch::TaskReport* report_of(const rt::Report& report, TaskId task) {
  for (const auto& one : report.tasks)
    if (one.task == task) return &one;
  return nullptr;
}

}  // namespace

TEST_CASE("unknown operations that flood delay no request of a task and fail no call, over each transport") {
  constexpr int calls = 100;
  Served served(in_each_mode());
  OwnReader reader;
  const auto probe = probe_of(served.client, served.server.ior());
  auto task = rt::admit(probe, {.operation = "add", .contract = make_contract(2ms, 200us)});
  REQUIRE(task);
  auto with_tasks = served.connections();
  for (const auto& connection : with_tasks) connection->take_task();
  // The budget is not refilled in this test. Once a client has sent something unforeseen, the reader stops reading its
  // connection.
  reader->limit_unforeseen_reads({1us, 1h});
  Floods floods;
  for (auto& connection : with_tasks) floods.add(std::move(connection));
  for (auto& connection : served.connections()) floods.add(std::move(connection));
  // Bound: the three clients with tasks use up the budget.
  while (reader->deferred_reads() < 3) std::this_thread::yield();

  for (int i = 0; i < calls; ++i) CHECK(probe->add(i, 1) == i + 1);
  TestOrb others;
  const auto plain = probe_of(others, served.server.ior());
  for (int i = 0; i < calls; ++i) CHECK(plain->echo("plain") == "plain");

  CHECK(reader->deferred_reads() == 3);
  rt::Report report;
  const dispatch::TaskReport* ours = nullptr;
  do {  // bound: a job is counted soon after its reply was sent
    report = rt::report(*served.server.orb.orb);
    ours = report_of(report, task->id());
    REQUIRE(ours);
  } while (ours->jobs < calls);
  CHECK(ours->jobs == calls);
  CHECK(ours->refused == 0);
  CHECK(report.queue_full == 0);
}

TEST_CASE("a task that is called sooner than its contract says waits with what is unforeseen, and others do not") {
  Served served({});
  OwnReader reader;
  auto tcp = std::move(served.connections().front());
  tcp->take_task();
  const auto probe = probe_of(served.client, served.server.ior());
  auto task = rt::admit(probe, {.operation = "add", .contract = make_contract(2ms, 200us)});
  REQUIRE(task);
  REQUIRE(probe->add(1, 2) == 3);
  reader->limit_unforeseen_reads({1us, 1h});
  while (reader->deferred_reads() == 0) tcp->call_task();  // bound: the contract allows one call per second
  for (int i = 0; i < 100; ++i) CHECK(probe->add(i, 1) == i + 1);
  CHECK(reader->deferred_reads() == 1);
}

TEST_CASE("a connection without a task that sends what is unforeseen goes to ordinary threads and need not wait") {
  Served served({});
  OwnReader reader;
  for (const auto& connection : served.connections()) {
    connection->call_paced();  // from now on the reader reads the connection
    reader->limit_unforeseen_reads({1us, 1h});
    CHECK(connection->ask_unknown(200) == 200);
    connection->call_paced();
    CHECK(connection->ask_unknown(200) == 200);
  }
}

TEST_CASE("a move to ordinary threads that failed is tried again after 16 messages") {
  constexpr int until_tried_again = 16, at_accept = 1;
  Served served({});
  std::optional<FailingMoves> failing(std::in_place);
  Bare client(served.transport, served.endpoint(&kinds::tcp), served.key());
  const auto ask = [&](int count) {
    for (int i = 0; i < count; ++i) REQUIRE(client.ask_unknown(1) == 1);
  };
  ask(2 * until_tried_again + 1);
  CHECK(moves == at_accept + 2);
  failing.reset();
  ask(4 * until_tried_again);
  CHECK(moves == at_accept + 3);  // this move succeeded
}

TEST_CASE("a connection that has to wait and cannot be moved waits, and tries no more moves than after 16 messages") {
  constexpr int messages = 64, at_accept = 1, at_first_wait = 1;
  Served served({});
  OwnReader reader;
  const FailingMoves failing;
  Bare client(served.transport, served.endpoint(&kinds::tcp), served.key());
  reader->limit_unforeseen_reads({10us, 1ms});
  for (int i = 0; i < messages; ++i) REQUIRE(client.ask_unknown(1) == 1);
  CHECK(reader->deferred_reads() > 0);
  CHECK(moves <= at_accept + at_first_wait + messages / 16);
}

}  // namespace unforeseen_reads_test
