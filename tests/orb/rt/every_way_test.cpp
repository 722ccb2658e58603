// Tests what clients may do and the suite of invocations does not: over TCP, Unix sockets and channels, in each
// dispatch mode.
#include <algorithm>
#include <atomic>
#include <ctime>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "orb/base/minor.h"
#include "orb/core/client/reference.h"
#include "orb/rt/current.h"
#include "orb/rt/rt.h"
#include "orb/transport/channel/channel.h"
#include "orb/transport/unix/unix.h"
#include "tests/support/in_time.h"
#include "tests/support/modes.h"
#include "tests/support/peers/bare_wire.h"
#include "tests/support/probe_servant.h"
#include "tests/support/system/temp_directory.h"

namespace every_way_test {

using namespace corelane;
using namespace corelane::testing;
using namespace std::chrono_literals;

namespace {

struct Way {
  std::string mode, listen;
  bool promises() const { return mode != "leader-followers"; }
};

// A server that is reached in one way. The test runs once for each way.
struct Served {
  explicit Served(const std::vector<std::string>& client_options = {}) : client(client_options) {}

  std::shared_ptr<transport::Connection> connect() {
    const transport::Endpoint to = server.orb->endpoints().front();
    transport::Transport& over = to.kind == &transport::kinds::tcp           ? static_cast<transport::Transport&>(tcp)
                                 : to.kind == &transport::kinds::unix_socket ? static_cast<transport::Transport&>(local)
                                                                             : channels;
    return over.connect(to, os::now() + long_enough).value();
  }
  std::vector<std::byte> request(std::uint32_t id, const char* operation) {
    return request(id, operation, [](auto&) {});
  }
  template <typename Arguments>
  std::vector<std::byte> request(std::uint32_t id, const char* operation, Arguments&& arguments) {
    cdr::Writer writer;
    begin_request(writer, id, server.key(), operation);
    arguments(writer);
    REQUIRE(giop::finish(writer));
    return {writer.bytes().begin(), writer.bytes().end()};
  }
  // Returns the minor code of a call that times out after it was sent.
  std::uint32_t times_out() {
    for (;;) try {  // bound: a machine that sends a request within 100 ms
        probe->block();
        return 0;
      } catch (const CORBA::TIMEOUT& late) {
        if (late.completed() == CORBA::COMPLETED_MAYBE) return late.minor();
      }
  }
  // Returns when the server has read everything that was sent before on this connection.
  void await_reader(Wire& wire) {
    REQUIRE(wire.send(request(999, "_non_existent")));
    REQUIRE(id_of(wire.next()) == 999);
  }
  static std::uint32_t id_of(const std::optional<giop::Message>& message) {
    REQUIRE(message);
    return giop::parse_reply(*message, {})->header.request_id;
  }

  const TempDirectory directory{};
  const Way way{.mode = GENERATE(every_mode()),
                .listen = GENERATE(as<std::string>{}, "127.0.0.1:0", "unix:", "channel:")};
  ProbeServer server{{"-ORBLimitsPeerUtilization", "0", "-ORBDispatchMode", way.mode, "-ORBEndpointListen",
                      way.listen.ends_with(':') ? way.listen + directory / "probe.sock" : way.listen,
                      "-ORBLimitsPeerOverrun", "report"}};
  TestOrb client;
  CORBA::object_reference<Probing::Probe> probe = probe_of(client, server.ior());

  const std::unique_ptr<transport::Reactor> reactor = std::move(*transport::Reactor::start());
  transport::TcpTransport tcp{*reactor};
  transport::UnixTransport local{*reactor};
  transport::ChannelTransport channels{*reactor};
};

std::vector<std::byte> cancel_of(std::uint32_t id) {
  cdr::Writer writer;
  giop::write_cancel_request(writer, id);
  return {writer.bytes().begin(), writer.bytes().end()};
}

// Returns a whole message of GIOP 1.2 in fragments of `size` bytes each. `size` is a multiple of 8.
std::vector<std::vector<std::byte>> in_fragments(std::vector<std::byte> whole, std::size_t size) {
  constexpr std::size_t flags_at = 6, type_at = 7, length_at = 8, header = 12, id = 4;
  std::vector<std::vector<std::byte>> pieces;
  for (std::size_t at = 0; at < whole.size(); at += size) {
    std::vector<std::byte> piece;
    if (at != 0) piece.assign(whole.begin(), whole.begin() + header + id);
    piece.insert(piece.end(), whole.begin() + static_cast<std::ptrdiff_t>(at),
                 whole.begin() + static_cast<std::ptrdiff_t>(std::min(at + size, whole.size())));
    if (at != 0) piece[type_at] = static_cast<std::byte>(giop::MessageType::fragment);
    if (at + size < whole.size()) piece[flags_at] |= std::byte{2};
    const auto length = static_cast<std::uint32_t>(piece.size() - header);
    std::memcpy(piece.data() + length_at, &length, sizeof length);
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

// A servant whose add() uses `times` its budget, or runs until it is told to stop.
class Spendthrift final : public ProbeServant {
 public:
  static constexpr Duration budget = 2ms;
  static constexpr std::int32_t until_stopped = 1'000'000;
  std::int32_t add(std::int32_t times, std::int32_t result) override {
    const rt::StopToken stop = rt::current().stop;
    for (const Duration until = used() + times * budget; used() < until && !stop.stop_requested();) continue;
    stopped = stopped || stop.stop_requested();
    return result;
  }
  std::atomic<bool> stopped{false};

 private:
  static Duration used() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
  }
};

rt::TaskSpec task_of_add(Duration budget, OverrunPolicy policy = OverrunPolicy::report) {
  Contract contract = make_contract(20ms, budget);
  contract.on_overrun = policy;
  return {.operation = "add", .contract = contract};
}

}  // namespace

TEST_CASE("a cancelled request that waits does not run in any way to serve it") {
  Served served;
  Wire wire(served.connect());
  const auto manager = served.server.orb.root()->the_POAManager();
  manager->hold_requests(true);
  REQUIRE(wire.send(served.request(1, "ping")));
  REQUIRE(wire.send(cancel_of(1)));
  REQUIRE(wire.send(cancel_of(77)));  // no request has this id
  served.await_reader(wire);
  manager->activate();
  REQUIRE(wire.send(served.request(2, "ping")));
  CHECK(served.id_of(wire.next()) == 2);
  const auto abandoned = [&] { return rt::report(*served.server.orb.orb).abandoned_requests; };
  // Bound: the request has its turn, perhaps after the answer to the other one.
  while (abandoned() == 0) std::this_thread::yield();
  CHECK(abandoned() == 1);
  CHECK(served.server.servant->pings == 1);
}

TEST_CASE("a cancelled request that runs is not stopped and not answered in any way to serve it") {
  Served served;
  Wire wire(served.connect());
  REQUIRE(wire.send(served.request(1, "block")));
  served.server.servant->wait_until_blocked();
  REQUIRE(wire.send(cancel_of(1)));
  served.await_reader(wire);
  served.server.servant->release();
  for (std::uint32_t id = 2; id < 20; ++id) {
    REQUIRE(wire.send(served.request(id, "ping")));
    REQUIRE(served.id_of(wire.next()) == id);
  }
}

TEST_CASE("a call that takes too long is TIMEOUT and its connection goes on in every way to serve it") {
  Served served({"-ORBTimeoutRequest", "100ms"});
  CHECK(served.times_out() == minor::deadline_passed);
  served.server.servant->release();
  CHECK(in_time([&] { return served.probe->add(1, 2); }) == 3);  // the late reply of block() belongs to no call
}

TEST_CASE("requests of one connection are answered as they end in every way to serve them") {
  Served served;
  Wire wire(served.connect());
  REQUIRE(wire.send(served.request(1, "block")));
  served.server.servant->wait_until_blocked();
  constexpr std::uint32_t count = 100;
  for (std::uint32_t id = 2; id < count; ++id)
    REQUIRE(wire.send(served.request(id, "add", [&](cdr::Writer& w) { w.write(std::int32_t(id)), w.write(1); })));
  std::vector<std::uint32_t> answered;
  for (std::uint32_t id = 2; id < count; ++id) {
    const auto message = wire.next();
    answered.push_back(served.id_of(message));
    std::int32_t sum = 0;
    REQUIRE(giop::parse_reply(*message, {})->body.read(sum));
    REQUIRE(sum == static_cast<std::int32_t>(answered.back()) + 1);
  }
  served.server.servant->release();
  CHECK(served.id_of(wire.next()) == 1);
  std::sort(answered.begin(), answered.end());
  CHECK(std::adjacent_find(answered.begin(), answered.end()) == answered.end());
}

TEST_CASE("oneway requests all arrive and none is answered in any way to serve them") {
  Served served;
  constexpr std::size_t count = 200;
  for (std::size_t i = 0; i < count; ++i) served.probe->note(std::to_string(i));
  while (served.server.servant->notes().size() < count)
    CHECK(served.probe->add(1, 2) == 3);  // bound: the notes are delivered
  auto notes = served.server.servant->notes();
  std::sort(notes.begin(), notes.end());
  CHECK(std::adjacent_find(notes.begin(), notes.end()) == notes.end());
  CHECK(notes.size() == count);
}

TEST_CASE("fragments of several requests are joined in every way to serve them") {
  Served served;
  Wire wire(served.connect());
  std::vector<std::vector<std::vector<std::byte>>> requests;
  std::vector<std::string> texts;
  for (const std::size_t length : {1000u, 30'000u, 200'000u}) {
    texts.emplace_back(length, static_cast<char>('a' + texts.size()));
    const auto id = static_cast<std::uint32_t>(texts.size());
    const auto whole = served.request(id, "echo", [&](cdr::Writer& writer) { writer.write_string(texts.back()); });
    requests.push_back(in_fragments(whole, length / 200 * 8));  // 25 or 26 fragments for each request
  }
  for (std::size_t i = 0; i < 30; ++i)
    for (const auto& fragments : requests)
      if (i < fragments.size()) REQUIRE(wire.send(fragments[i]));
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto message = wire.next();
    std::string_view text;
    REQUIRE(message);
    auto reply = giop::parse_reply(*message, {});
    REQUIRE(reply->body.read_string(text));
    CHECK(text == texts.at(reply->header.request_id - 1));
  }
}

TEST_CASE("messages of all lengths go both ways whole in every way to serve them") {
  Served served;
  for (const std::size_t size : {0u, 47u, 4096u, 32'768u, 65'536u, 65'537u, 1'000'000u, 3'000'000u}) {
    const std::string text(size, static_cast<char>('a' + size % 26));
    CHECK(served.probe->echo(text) == text);
  }
}

TEST_CASE("a contract that fits is admitted and one that does not is refused in every way that promises") {
  Served served;
  const auto task = rt::admit(served.probe, task_of_add(200us));
  REQUIRE(task);
  CHECK(served.probe->add(1, 2) == 3);
  CHECK(served.probe->echo("beside it") == "beside it");
  const auto other = probe_of(served.client, served.server.ior());
  const auto refused = rt::admit(other, task_of_add(19'990us));
  REQUIRE(refused.has_value() == !served.way.promises());
  if (!refused) CHECK(refused.error().reason.code == sched::RefusalCode::not_schedulable);
  CHECK(other->add(2, 2) == 4);
  CHECK(served.probe->add(3, 2) == 5);
}

TEST_CASE("a job that overruns is treated as its contract says in every way to serve it") {
  const auto policy = GENERATE(OverrunPolicy::report, OverrunPolicy::demote, OverrunPolicy::cancel);
  Served served;
  const auto servant = CORBA::make_reference<Spendthrift>();
  const auto probe = probe_of(
      served.client, served.server.orb->object_to_string(served.server.orb.root()->servant_to_reference(servant)));
  const auto task = rt::admit(probe, task_of_add(Spendthrift::budget, policy));
  if (!served.way.promises() && policy != OverrunPolicy::report) {
    REQUIRE_FALSE(task);
    CHECK(task.error().reason.code == sched::RefusalCode::overrun_policy);
    return;
  }
  REQUIRE(task);
  if (policy == OverrunPolicy::cancel)
    CHECK_THROWS_AS(probe->add(Spendthrift::until_stopped, 2), CORBA::TIMEOUT);
  else
    CHECK(probe->add(3, 2) == 2);
  CHECK(in_time([&] { return probe->add(0, 7); }) == 7);  // the job before it has ended by its turn
  CHECK(servant->stopped == (policy == OverrunPolicy::cancel));
}

}  // namespace every_way_test
