// Tests anonymous clients that hold tasks without using them, and ask for more as fast as they can.
#include <atomic>
#include <catch2/catch.hpp>
#include <cstddef>
#include <thread>
#include <utility>
#include <vector>

#include "orb/giop/corelane_contexts.h"
#include "orb/os/clock.h"
#include "orb/rt/rt.h"
#include "tests/attack/attack.h"
#include "tests/attack/attacked_server.h"
#include "tests/attack/requests.h"

namespace corelane::attack {
namespace {

using namespace corelane::testing;
using namespace std::chrono_literals;
using transport::TransportKind;
namespace kinds = transport::kinds;

const Contract large = make_contract(50ms, 10ms, 50ms, 5ms);
const Contract too_large = make_contract(50ms, 50ms, 50ms, 5ms);  // does not fit on a core beside the platform's load
constexpr std::size_t many_peers = 16;

// Returns a `_corelane_admit` request. The next one can be sent before the reply has come.
std::vector<std::byte> asks_for_task(Bytes key, const Contract& contract) {
  cdr::Writer writer;
  giop::RequestHeader header{.request_id = 7,
                             .response_flags = giop::response::with_target,
                             .target = {},
                             .operation = "_corelane_admit",
                             .contexts = {}};
  header.target.object_key = key;
  const auto bytes = giop::encode_contract({.contract = contract});
  const giop::ServiceContext context{giop::context::contract, bytes};
  giop::begin_request(writer, header, std::span(&context, 1), giop::giop_1_2, native_order);
  writer.write_string("add");
  REQUIRE(giop::finish(writer));
  return test::copy_of(writer.bytes());
}

// A client whose calls run as jobs of its own task.
class ClientWithTask {
 public:
  ClientWithTask(const AttackedServer& server, const TransportKind* kind) : probe_(server.probe_at(client_, kind)) {}

  // Repeats the request until it is granted. Bound: if the server never admits the client, the server is wrong.
  bool is_admitted_at_last() {
    const Time latest = os::now() + far_too_long;
    while (!is_admitted() && os::now() < latest)
      std::this_thread::sleep_for(5ms);  // sleep: no event tells when another client's task ends
    return task_.has_value();
  }
  // An exception means that the client was told to ask again.
  bool is_admitted() {
    if (auto admitted = rt::admit(probe_, {.operation = "add", .contract = large})) task_ = std::move(*admitted);
    return task_.has_value();
  }
  bool is_served(int calls) {
    int right = 0;
    while (right < calls && probe_->add(right, 1) == right + 1) ++right;
    return right == calls;
  }

 private:
  GoodOrb client_;
  const CORBA::object_reference<Probing::Probe> probe_;
  std::optional<rt::Task> task_;
};

}  // namespace

TEST_CASE(
    "a client's task is admitted and keeps its bound while hogs of one address hold idle tasks and ask for more") {
  AttackedServer server;
  {
    const Attack hogs(server.endpoint(&kinds::tcp),
                      {.bytes = several(asks_for_task(server.key, large), 16), .connections = 8, .addresses = 1});
    const Attack flood(server.endpoint(&kinds::tcp),
                       {.bytes = several(request(server.key, "no_operation"), 64), .connections = 3, .addresses = 1});
    CHECK(server.serves(good_calls() / 2));
    ClientWithTask client(server, GENERATE(&kinds::tcp, &kinds::channel));
    CHECK(client.is_admitted_at_last());
    CHECK(client.is_served(10));
    CHECK(server.keeps_bounds());
  }
  CHECK(server.recovers());
}

TEST_CASE("a client that asks for admission once is answered while peers of many addresses ask as fast as they can") {
  constexpr int clients = 4;
  AttackedServer server;
  {
    const Attack flood(server.endpoint(&kinds::tcp), {.bytes = several(asks_for_task(server.key, too_large), 64),
                                                      .connections = 2 * many_peers,
                                                      .addresses = many_peers});
    for (int i = 0; i < clients; ++i) {
      ClientWithTask client(server, i % 2 == 0 ? &kinds::tcp : &kinds::unix_socket);
      CHECK(client.is_admitted());
      CHECK(client.is_served(10));
    }
    CHECK(server.keeps_bounds());
  }
  CHECK(server.recovers());
}

TEST_CASE("capacity that hogs of many addresses hold and do not use goes to a client when their leases end") {
  AttackedServer server({"-ORBTimeoutIdleTasks", "1s"});
  {
    const Attack hogs(
        server.endpoint(&kinds::tcp),
        {.bytes = several(asks_for_task(server.key, large), 16), .repeats = false, .connections = 8, .addresses = 8});
    ClientWithTask client(server, &kinds::channel);
    CHECK(client.is_admitted_at_last());
    CHECK(client.is_served(10));
    CHECK(server.keeps_bounds());
    CHECK(server.serves(good_calls() / 4));
  }
  CHECK(server.recovers());
}

}  // namespace corelane::attack
