// The attack battery: hostile and broken clients against a server process with default settings. Each case checks that
// good clients get all their calls answered meanwhile, and that the server recovers.
//
// For longer runs: CORELANE_ATTACK_CALLS (of each good client, 100), CORELANE_ATTACK_CHURN (connections, 2000) and
// CORELANE_ATTACK_KILLS (clients, 6).
#include "tests/attack/attack.h"

#include <sys/resource.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "orb/base/sanitizer.h"
#include "orb/giop/ior.h"
#include "orb/os/clock.h"
#include "orb/os/process/child_process.h"
#include "orb/rt/rt.h"
#include "tests/attack/attacked_server.h"
#include "tests/attack/requests.h"
#include "tests/support/bytes/wire.h"

namespace corelane::attack {
namespace {

using namespace corelane::testing;
using namespace std::chrono_literals;
using transport::TransportKind;
namespace kinds = transport::kinds;

constexpr std::size_t largest_message = 16 * mib;  // limits.message_size
// How much freed memory AddressSanitizer keeps.
constexpr std::size_t kept_by_sanitizer = CORELANE_ADDRESS_SANITIZER ? 256 * mib : 0;

// Returns how many connections this process may open beside those that it needs. The server can keep as many.
std::size_t descriptors_to_spend() {
  rlimit limit{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &limit) == 0);
  limit.rlim_cur = limit.rlim_max;
  REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0);
  return limit.rlim_cur > 400 ? static_cast<std::size_t>(limit.rlim_cur) - 300 : 100;
}

// Good clients make their calls several times over. Returns whether all were answered and the server held at most that
// much memory meanwhile.
bool serves_within(AttackedServer& server, std::size_t bytes) {
  bytes += kept_by_sanitizer;
  std::size_t most = 0;
  bool all = true;
  for (int i = 0; i < 4 && all; ++i) {
    all = server.serves(good_calls() / 4);
    most = std::max(most, server.resident());
  }
  UNSCOPED_INFO("the server held " << most / mib << " MiB of " << bytes / mib);
  return all && most <= bytes;
}

// A good client in another process than the attackers'.
class ClientApart {
 public:
  ClientApart(const AttackedServer& server, const TransportKind* kind)
      : process_({os::program_beside("corelane-attack-server"), "steady", "1",
                  "add@" + giop::to_string(server.reference_by(kind))}) {}
  // Returns whether that many calls were answered, and none failed.
  bool is_served(int calls) {
    const Time latest = os::now() + far_too_long;
    int answered = 0, failed = 0;
    while (answered < calls && failed == 0 && os::now() < latest) {
      process_.write_line("report");
      std::istringstream line(process_.read_line().value_or(""));
      int more = 0;
      if (!(line >> more >> failed)) return false;
      answered += more;
      std::this_thread::sleep_for(5ms);  // sleep: another process sends no event
    }
    UNSCOPED_INFO("a client of another process: " << answered << " of " << calls << " calls, " << failed << " failed");
    return answered >= calls && failed == 0;
  }

 private:
  os::ChildProcess process_;
};

}  // namespace

TEST_CASE("clients are served while half headers take all connections that there may be") {
  const std::size_t connections = std::min<std::size_t>(1200, descriptors_to_spend());
  AttackedServer server;
  {
    const Attack attack(
        server.endpoint(&kinds::tcp),
        {.bytes = test::wire("'GIOP' 0102"), .repeats = false, .connections = connections, .addresses = 4});
    CHECK(server.serves(good_calls()));
  }
  CHECK(server.recovers());
}

TEST_CASE("clients are served while requests for what is not there come as fast as they can") {
  AttackedServer server;
  const bool object = GENERATE(true, false);
  const auto one = object ? request(std::as_bytes(std::span("nobody")), "add") : request(server.key, "no_operation");
  {
    const Attack attack(server.endpoint(&kinds::tcp), {.bytes = several(one, 64)});
    CHECK(server.serves(good_calls()));
    CHECK(attack.sent() > one.size());
  }
  CHECK(server.recovers());
}

TEST_CASE("clients are served and memory is bounded while long oneways wait for a slow servant") {
  constexpr std::size_t addresses = 3, connections = 2 * addresses;
  AttackedServer server;
  const std::string text = "slow" + std::string(largest_message - 1024, 'x');
  const std::size_t before = server.resident();
  {
    const Attack attack(
        server.endpoint(&kinds::tcp),
        {.bytes = request(server.key, "note", &text, true), .connections = connections, .addresses = addresses});
    // limits.memory lets each address hold two messages: its share, and one message more. Both may be requests that
    // run, because they come over two connections. Then each also has its arguments, which limits.memory does not
    // count. The rest is for channels of clients with a contract, of which some may have ended, and for buffers.
    CHECK(serves_within(server, before + addresses * 2 * 2 * largest_message + 32 * mib));
    server.release();
  }
  CHECK(server.recovers());
}

TEST_CASE("clients are served while long oneways come as fast as they can") {
  constexpr std::size_t connections = 4;
  AttackedServer server;
  const std::string text(largest_message - 1024, 'x');
  {
    const Attack attack(server.endpoint(&kinds::tcp),
                        {.bytes = request(server.key, "note", &text, true), .connections = connections});
    CHECK(server.serves(good_calls()));
  }
  CHECK(server.recovers());
}

TEST_CASE("clients are served and memory is bounded while long messages stay halves, and given back") {
  AttackedServer server;
  const std::string text(largest_message - 1024, 'x');
  auto message = request(server.key, "note", &text, true);
  message.pop_back();
  const std::size_t before = server.resident();
  {
    const Attack attack(server.endpoint(&kinds::tcp),
                        {.bytes = std::move(message), .repeats = false, .connections = 24, .addresses = 4});
    CHECK(serves_within(server, before + 10 * largest_message));  // limits.memory, and one more message of some peers
  }
  CHECK(server.recovers());
  CHECK(server.comes_down_to(before + 2 * largest_message + kept_by_sanitizer));
}

TEST_CASE("long calls of clients are served while long messages of many addresses trickle in") {
  AttackedServer server;
  const std::string text(largest_message - 1024, 'x');
  {
    const Attack attack(server.endpoint(&kinds::tcp), {.bytes = request(server.key, "note", &text, true),
                                                       .repeats = false,
                                                       .fast = largest_message / 4,
                                                       .connections = 20,
                                                       .addresses = 20});
    while (attack.sent() < 19 * (largest_message / 4))
      std::this_thread::sleep_for(5ms);  // sleep: no event tells that memory is used up
    CHECK(server.serves_long(3, largest_message / 4));
    CHECK(server.serves(2));
  }
  CHECK(server.recovers());
}

TEST_CASE("calls of one client that block hold up no other client") {
  constexpr std::size_t calls = 24;
  const auto kind = GENERATE(&kinds::tcp, &kinds::channel);
  AttackedServer server;
  std::atomic<std::size_t> answered{0};
  {
    TestOrb client({"-ORBTimeoutRequest", "0s"});
    const auto probe = server.probe_at(client, kind);
    std::vector<std::jthread> callers;
    for (std::size_t i = 0; i < calls; ++i)
      callers.emplace_back([&] {
        try {
          probe->block();
          ++answered;
        } catch (const CORBA::SystemException&) {
        }
      });
    CHECK(server.serves(good_calls()));
    CHECK(answered == 0);
    server.release();
  }
  CHECK(answered == calls);
  CHECK(server.recovers(kind == &kinds::tcp));
}

TEST_CASE("clients are served and memory is bounded while others take no replies") {
  constexpr std::size_t connections = 4, backlog = 32 * mib;  // the default of limits.backlog
  AttackedServer server;
  {
    GoodOrb client;
    server.probe_at(client, &kinds::tcp)->name(std::string(mib, 'x'));
  }
  const std::size_t before = server.resident();
  {
    const Attack attack(
        server.endpoint(GENERATE(&kinds::tcp, &kinds::unix_socket)),
        {.bytes = several(request(server.key, "_get_name"), 16), .reads = false, .connections = connections});
    CHECK(serves_within(server, before + 3 * connections * backlog + 64 * mib));
  }
  CHECK(server.recovers());
}

TEST_CASE("clients are served while many connections take no replies") {
  AttackedServer server;
  {
    GoodOrb client;
    server.probe_at(client, &kinds::tcp)->name(std::string(mib, 'x'));
  }
  {
    const Attack attack(server.endpoint(&kinds::tcp),
                        {.bytes = several(request(server.key, "_get_name"), 16), .reads = false, .connections = 64});
    CHECK(server.serves(good_calls() / 2));
  }
  CHECK(server.recovers());
}

TEST_CASE("other processes of a user are served while many connections of one process take no replies") {
  const auto kind = GENERATE(&kinds::unix_socket, &kinds::channel);
  AttackedServer server;
  {
    GoodOrb client;
    server.probe_at(client, &kinds::tcp)->name(std::string(mib, 'x'));
  }
  {
    const Attack attack(server.endpoint(&kinds::unix_socket),
                        {.bytes = several(request(server.key, "_get_name"), 16), .reads = false, .connections = 64});
    ClientApart client(server, kind);
    CHECK(client.is_served(4 * good_calls()));
  }
  CHECK(server.recovers());
}

TEST_CASE("connections that come and call and go leave nothing behind") {
  const auto churn = from_environment("CORELANE_ATTACK_CHURN", 2000);
  AttackedServer server;
  const auto kind = GENERATE(&kinds::tcp, &kinds::unix_socket);
  const auto call = request(server.key, "ping");
  const transport::Endpoint to = server.endpoint(kind);
  std::atomic<std::uint64_t> answered{0};
  {
    const std::jthread client([&] {
      for (std::uint64_t i = 0; i < churn; ++i) {
        const os::Fd fd = connect_to(to, 2 + i % 3);
        if (!fd) continue;
        const std::size_t count = i % 5 == 4 ? call.size() / 2 : call.size();
        if (::send(fd.get(), call.data(), count, MSG_NOSIGNAL) < 0) continue;
        std::byte first;
        const bool waits = i % 5 < 3;  // the others end at once, every second of them in the middle of the request
        if (waits && ::recv(fd.get(), &first, 1, 0) == 1) ++answered;
      }
    });
    CHECK(server.serves(good_calls()));
  }
  CHECK(answered == churn / 5 * 3 + std::min<std::uint64_t>(churn % 5, 3));
  CHECK(server.recovers());
}

TEST_CASE("clients that are killed in the middle of their calls leave nothing behind") {
  const auto kills = from_environment("CORELANE_ATTACK_KILLS", 6);
  AttackedServer server;
  for (std::uint64_t i = 0; i < kills; ++i) {
    std::vector<std::string> command{os::program_beside("corelane-attack-server"), "call", server.ior, "-ORBLogLevel",
                                     "off"};
    os::ChildProcess client(command);
    for (std::uint64_t line = 0; line <= i; ++line) REQUIRE(client.read_line() == "answered");
    CHECK(server.serves(good_calls() / 10));
  }
  CHECK(server.recovers());
}

TEST_CASE("one client cannot have all cores promised to its tasks") {
  constexpr int share = 20;  // in % of a core
  AttackedServer server;
  int first = 0;
  for (int round = 0; round < 2; ++round) {
    TestOrb hog;
    const auto probe = server.probe_at(hog, &kinds::tcp);
    std::vector<rt::Task> tasks;
    std::vector<CORBA::object_reference<Probing::Probe>> probes;
    while (tasks.size() < 1000) {
      probes.push_back(server.probe_at(hog, &kinds::tcp));
      auto task = rt::admit(probes.back(),
                            {.operation = "add", .contract = make_contract(50ms, 50ms * share / 100, 50ms, 5ms)});
      if (!task) break;
      tasks.push_back(std::move(*task));
    }
    const int promised = static_cast<int>(tasks.size());
    CHECK(promised * share <= 50 * static_cast<int>(std::thread::hardware_concurrency()));
    if (round == 0) first = promised;
    CHECK(promised == first);  // the capacity of the first client was given back
    CHECK(server.serves(good_calls() / 4));
    GoodOrb client;
    const auto own = server.probe_at(client, &kinds::channel);
    const auto task =
        rt::admit(own, {.operation = "add", .contract = make_contract(50ms, 50ms * share / 100, 50ms, 5ms)});
    CHECK(task);
    for (int i = 0; i < 3; ++i) CHECK(own->add(i, 1) == i + 1);
  }
  CHECK(server.recovers());
}

}  // namespace corelane::attack
