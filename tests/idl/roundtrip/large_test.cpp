// large.idl: arguments that are larger than the stack of the thread that runs the servant.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "largeS.h"
#include "orb/corba/orb.h"
#include "orb/corba/portable_server.h"
#include "orb/rt/rt.h"
#include "tests/support/modes.h"

namespace large_test {

using namespace std::chrono_literals;

namespace {

// On the heap, so that the test's own stack does not matter.
std::unique_ptr<Large::Cube> cube_of(std::int64_t first) {
  auto cube = std::make_unique<Large::Cube>();
  for (std::size_t i = 0; i < cube->size(); ++i) (*cube)[i] = first + static_cast<std::int64_t>(i);
  return cube;
}

class TurnerServant : public CORBA::servant_traits<Large::Turner>::base_type {
 public:
  Large::Cube turn(const Large::Cube& a, Large::Cube& b, Large::Cube& c) override { return free_turn(a, b, c); }
  Large::Box exchange(Large::Box& first, const Large::Pair& others) override {
    Large::Box result(others[1]);
    first = others[0];
    return result;
  }
  void paint(Large::Image& picture) override { picture[99][999] = Large::Colour::red; }
  Large::Cube free_turn(const Large::Cube& a, Large::Cube& b, Large::Cube& c) override {
    b = c;
    c = a;
    Large::Cube result;
    std::reverse_copy(a.begin(), a.end(), result.begin());
    return result;
  }
};

CORBA::object_reference<CORBA::ORB> orb_with(std::vector<std::string> options) {
  static int made = 0;
  std::vector<std::string> words{"test", "-ORBPoolRealTime", "off", "-ORBRuntimeLedger", "off"};
  words.insert(words.end(), options.begin(), options.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  int argc = static_cast<int>(words.size());
  return CORBA::ORB_init(argc, argv.data(), "large" + std::to_string(++made));
}

struct Session {
  explicit Session(const std::string& mode)
      : server(orb_with({"-ORBEndpointListen", "127.0.0.1:0", "-ORBEndpointLocal", "off", "-ORBDispatchMode", mode})),
        client(orb_with({})) {
    poa = IDL::traits<PortableServer::POA>::narrow(server->resolve_initial_references("RootPOA"));
    poa->the_POAManager()->activate();
    local = IDL::traits<Large::Turner>::narrow(poa->servant_to_reference(servant));
    turner = IDL::traits<Large::Turner>::narrow(client->string_to_object(server->object_to_string(local)));
  }
  ~Session() {
    client->destroy();
    server->destroy();
  }
  CORBA::object_reference<CORBA::ORB> server, client;
  CORBA::object_reference<PortableServer::POA> poa;
  CORBA::servant_reference<TurnerServant> servant = CORBA::make_reference<TurnerServant>();
  CORBA::object_reference<Large::Turner> local, turner;
};

template <typename Call>
void check_turn(Call&& call) {
  const auto a = cube_of(1), before = cube_of(100);
  const auto b = std::make_unique<Large::Cube>(), c = std::make_unique<Large::Cube>(*before);
  const auto result = std::make_unique<Large::Cube>(call(*a, *b, *c));
  CHECK(*b == *before);
  CHECK(*c == *a);
  CHECK((*result)[0] == 10000);
  CHECK((*result)[9999] == 1);
}

}  // namespace

TEST_CASE("arguments that are larger than a task's stack come and go") {
  Session session(GENERATE(corelane::testing::every_mode()));
  const bool is_local = GENERATE(false, true);
  const auto& turner = is_local ? session.local : session.turner;
  SECTION("of an operation with a contract in its IDL") {
    check_turn([&](auto&... cubes) { return turner->turn(cubes...); });
  }
  SECTION("of an operation without one") {
    check_turn([&](auto&... cubes) { return turner->free_turn(cubes...); });
  }
  SECTION("of a task that a client has for itself") {
    const auto task =
        corelane::rt::admit(turner, {.operation = "free_turn", .contract = corelane::make_contract(1s, 50ms)});
    REQUIRE(task);
    check_turn([&](auto&... cubes) { return turner->free_turn(cubes...); });
  }
  SECTION("structures with arrays, and arrays of those") {
    const auto others = std::make_unique<Large::Pair>();
    (*others)[0].label("left"), (*others)[1].label("right");
    const auto first = std::make_unique<Large::Box>();
    const auto result = std::make_unique<Large::Box>(turner->exchange(*first, *others));
    CHECK(first->label() == "left");
    CHECK(result->label() == "right");
  }
  SECTION("arrays whose elements have a default of their own") {
    const auto picture = std::make_unique<Large::Image>();
    turner->paint(*picture);
    CHECK((*picture)[0][0] == Large::Colour::blue);
    CHECK((*picture)[99][999] == Large::Colour::red);
  }
}

TEST_CASE("arguments that are large come and go where requests waited at their manager before") {
  Session session("direct");
  session.poa->the_POAManager()->hold_requests(false);
  std::jthread activates([&] {
    std::this_thread::sleep_for(50ms);  // sleep: so that the call probably waits; the test is correct either way
    session.poa->the_POAManager()->activate();
  });
  check_turn([&](auto&... cubes) { return session.turner->free_turn(cubes...); });
}

}  // namespace large_test
