// Tests references to servers that have ended, when another server listens at the same address.
#include <algorithm>
#include <catch2/catch.hpp>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "orb/base/minor.h"
#include "orb/core/client/async_invocation.h"
#include "orb/core/client/reference.h"
#include "orb/core/connections/address.h"
#include "orb/core/lifecycle/orb_state.h"
#include "orb/giop/ior.h"
#include "orb/rt/rt.h"
#include "tests/support/probe_servant.h"
#include "tests/support/quiet.h"
#include "tests/support/system/temp_directory.h"

namespace server_identity_test {

using namespace corelane;
using namespace corelane::testing;
using namespace std::chrono_literals;

namespace {

using Probe = CORBA::object_reference<Probing::Probe>;

// Returns where a restarted server listens: at a port that the system chooses, or at a path.
std::string any_place(const TempDirectory& directory) {
  const std::string kind = GENERATE(as<std::string>{}, "127.0.0.1:0", "unix:", "channel:");
  return kind.ends_with(':') ? kind + directory / "server" : kind;
}

// A server that was started again at the same place, and a reference to its first start. If the place is a port,
// another program may take it between the two starts. Then both servers are started again.
struct Restarted {
  explicit Restarted(const std::string& place) {
    while (!second) {
      auto first = serve(place);
      old = first->ior();
      const std::uint16_t port = first->orb->endpoints().front().port;
      first.reset();
      try {
        second = serve(port == 0 ? place : "127.0.0.1:" + std::to_string(port));
      } catch (const CORBA::COMM_FAILURE&) {
      }
    }
  }
  static std::unique_ptr<ProbeServer> serve(const std::string& place) {
    return std::make_unique<ProbeServer>(std::vector<std::string>{"-ORBEndpointListen", place});
  }
  std::string old;  // a reference to the first start
  std::unique_ptr<ProbeServer> second;
};

// Returns what the call raises, as a client would read it.
template <typename Call>
std::string refusal_of(Call&& call) {
  try {
    call();
    return "nothing";
  } catch (const CORBA::OBJECT_NOT_EXIST& refused) {
    CHECK(refused.minor() == minor::earlier_start);
    CHECK(refused.completed() == CORBA::COMPLETED_NO);
    return refused.what();
  }
}

bool is_untouched(ProbeServer& server) { return server.servant->pings == 0 && server.servant->notes().empty(); }

// Returns a reference with the endpoints of all servers, in their order, and the object of the last one.
Probe through(TestOrb& client, const std::vector<ProbeServer*>& servers) {
  std::vector<transport::Endpoint> endpoints;
  for (ProbeServer* const server : servers)
    for (const transport::Endpoint& endpoint : server->orb->endpoints()) endpoints.push_back(endpoint);
  const std::vector<std::byte> key = servers.back()->key();
  giop::Ior ior{.type_id = "IDL:Probing/Probe:1.0", .profiles = {core::profile_of(endpoints, key)}};
  return core::make_stub<Probing::Probe>(std::make_shared<core::Reference>(client.orb.shared(), std::move(ior)));
}

std::int32_t add_asynchronously(const Probe& probe) {
  static constexpr core::Operation add{.name = "add"};
  std::promise<std::int32_t> ended;
  core::AsyncInvocation call(*probe, add);
  call.marshal(std::int32_t{3}, std::int32_t{4});
  call.send([&](core::AsyncReply& reply) {
    std::int32_t sum = 0;
    ended.set_value(reply.unmarshal(sum) ? sum : -1);
  });
  return ended.get_future().get();
}

}  // namespace

TEST_CASE("a server that was started again does not run calls through references of its earlier start, and says why") {
  const Quiet quiet;
  const TempDirectory directory;
  Restarted server(any_place(directory));
  TestOrb client;
  const Probe probe = core::make_stub<Probing::Probe>(client->string_to_object(server.old)->_reference());
  probe->note("lost");
  for (int i = 0; i < 2; ++i)
    CHECK_THAT(refusal_of([&] { probe->ping(); }), Catch::Contains("the reference is of an earlier start"));
  CHECK(add_asynchronously(probe) == -1);
  CHECK(probe->_non_existent());
  CHECK_FALSE(core::locate(probe));
  CHECK_THAT(refusal_of([&] { (void)rt::admit(probe, {.operation = "add", .contract = make_contract(100ms, 1ms)}); }),
             Catch::Contains("earlier start"));
  // The object with the same number in the new server is another one, and works.
  CHECK(probe_of(client, server.second->ior())->add(1, 2) == 3);
  CHECK(is_untouched(*server.second));
}

TEST_CASE("a client that called the earlier start is told the same") {
  const Quiet quiet;
  const TempDirectory directory;
  TestOrb client;
  const std::string place = any_place(directory);
  auto first = Restarted::serve(place);
  if (first->orb->endpoints().front().port != 0) return;  // another program may have taken the port by then
  const Probe probe = probe_of(client, first->ior());
  probe->ping();
  first.reset();
  const auto second = Restarted::serve(place);
  for (int i = 0; i < 2; ++i) CHECK_THAT(refusal_of([&] { probe->ping(); }), Catch::Contains("earlier start"));
  CHECK(is_untouched(*second));
}

TEST_CASE("objects of an adapter with keys of its own keep their references when the server starts again") {
  const Quiet quiet;
  const TempDirectory directory;
  const std::string place = any_place(directory);
  struct Persistent {
    explicit Persistent(const std::string& at) : orb({"-ORBEndpointListen", at}) {
      const auto poa = orb.root()->create_well_known("plant", nullptr);
      poa->the_POAManager()->activate();
      poa->activate_object_with_id({'1'}, servant);
      ior = orb->object_to_string(poa->id_to_reference({'1'}));
    }
    TestOrb orb;
    CORBA::servant_reference<ProbeServant> servant = CORBA::make_reference<ProbeServant>();
    std::string ior;
  };
  TestOrb client;
  auto first = std::make_unique<Persistent>(place);
  if (first->orb->endpoints().front().port != 0) return;  // as above
  const Probe probe = probe_of(client, first->ior);
  CHECK(probe->add(1, 2) == 3);
  first.reset();
  const Persistent second(place);
  CHECK(probe->add(2, 2) == 4);
  CHECK(probe_of(client, second.ior)->_is_equivalent(probe));
}

TEST_CASE("where another server has taken one endpoint of a reference calls go to the next one") {
  const Quiet quiet;
  const TempDirectory directory;
  const std::string taken = GENERATE(as<std::string>{}, "unix:", "channel:", "127.0.0.1:0");
  ProbeServer other({"-ORBEndpointListen", taken.ends_with(':') ? taken + directory / "taken" : taken});
  ProbeServer server;
  TestOrb client;
  SECTION("two-way calls, one after the other, and oneways behind them") {
    const Probe probe = through(client, {&other, &server});
    for (int i = 0; i < 3; ++i) CHECK(probe->add(i, 2) == i + 2);
    probe->note("oneway");
    probe->ping();
    std::jthread([&] { probe->note("of another thread"), probe->ping(); }).join();
    CHECK(server.servant->pings == 2);
    CHECK(server.servant->notes().size() == 2);
  }
  SECTION("an asynchronous call") { CHECK(add_asynchronously(through(client, {&other, &server})) == 7); }
  SECTION("an admission, and the calls of the task") {
    const Probe probe = through(client, {&other, &server});
    const auto task = rt::admit(probe, {.operation = "add", .contract = make_contract(100ms, 1ms)});
    REQUIRE(task);
    CHECK(probe->add(1, 2) == 3);
  }
  SECTION("several threads at once") {
    for (int round = 0; round < 10; ++round) {
      const Probe probe = through(client, {&other, &server});
      std::vector<std::jthread> callers;
      for (int t = 0; t < 4; ++t)
        callers.emplace_back([&, t] {
          for (int i = 0; i < 10; ++i) CHECK(probe->add(t, i) == t + i);
        });
    }
  }
  CHECK(is_untouched(other));
}

TEST_CASE("where other servers have taken all endpoints of a reference the call says so") {
  const Quiet quiet;
  const TempDirectory directory;
  ProbeServer first({"-ORBEndpointListen", "unix:" + directory / "first"});
  ProbeServer second({"-ORBEndpointListen", "127.0.0.1:0, channel:" + directory / "second"});
  auto server = std::make_unique<ProbeServer>();
  TestOrb client;
  const Probe probe = through(client, {&first, &second, server.get()});
  const bool was_called = GENERATE(false, true);
  if (was_called) CHECK(probe->add(1, 2) == 3);
  server.reset();
  for (int i = 0; i < 3; ++i) CHECK_THAT(refusal_of([&] { probe->ping(); }), Catch::Contains("earlier start"));
  CHECK(is_untouched(first));
  CHECK(is_untouched(second));
}

TEST_CASE("a reference of an earlier start is refused in the process itself, too") {
  const Quiet quiet;
  const TempDirectory directory;
  Restarted server("unix:" + directory / "server");
  const Probe probe = probe_of(server.second->orb, server.old);
  CHECK_THAT(refusal_of([&] { probe->ping(); }), Catch::Contains("earlier start"));
}

TEST_CASE("a reference that names an endpoint of this process and another one leads to the other server") {
  const Quiet quiet;
  ProbeServer other;
  ProbeServer server;
  const Probe probe = through(other.orb, {&other, &server});
  for (int i = 0; i < 3; ++i) CHECK(probe->add(i, 2) == i + 2);
  CHECK(add_asynchronously(probe) == 7);
  CHECK_FALSE(probe->_non_existent());
  probe->ping();
  CHECK(server.servant->pings == 1);
  CHECK(is_untouched(other));
}

TEST_CASE("an object that has left its server is not said to be of an earlier start") {
  ProbeServer server;
  TestOrb client;
  const Probe probe = GENERATE(false, true) ? server.reference : probe_of(client, server.ior());
  probe->ping();
  server.orb.root()->deactivate_object(server.orb.root()->servant_to_id(server.servant));
  try {
    probe->ping();
    FAIL("no exception");
  } catch (const CORBA::OBJECT_NOT_EXIST& gone) {
    CHECK(gone.minor() == minor::no_such_object);
  }
}

}  // namespace server_identity_test
