// Tests long sequences as arguments and results. A request refers to them instead of copying them. A call gets a long
// reply together with the buffer that holds it.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "orb/base/minor.h"
#include "orb/core/client/reference.h"
#include "orb/giop/headers.h"
#include "tests/support/bytes/pattern.h"
#include "tests/support/modes.h"
#include "tests/support/peers/acceptor.h"
#include "tests/support/peers/bare_server.h"
#include "tests/support/probe_servant.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane;
using namespace corelane::testing;

// Written by hand, in the form that corelane-idl generates:
//   interface Store {
//     octets echo(in octets block);
//     octets join(in octets first, in octets second);
//     doubles scale(in doubles values);
//     void exchange(inout octets block);
//     void refuse(in octets block);              // always BAD_PARAM
//     oneway void put(in octets block);
//   };
namespace Storing {

using Octets = std::vector<std::uint8_t>;
using Doubles = std::vector<double>;

namespace detail {
constexpr core::Operation echo{.name = "echo"}, join{.name = "join"}, scale{.name = "scale"},
    exchange{.name = "exchange"}, refuse{.name = "refuse"}, put{.name = "put", .oneway = true};
}  // namespace detail

class Store : public virtual CORBA::Object {
 public:
  using _ref_type = CORBA::object_reference<Store>;
  static constexpr const char* _id = "IDL:Storing/Store:1.0";
  explicit Store(const core::StubInit& init) : CORBA::Object(init) {}

  Octets echo(const Octets& block) { return call<Octets>(detail::echo, block); }
  Octets join(const Octets& first, const Octets& second) { return call<Octets>(detail::join, first, second); }
  Doubles scale(const Doubles& values) { return call<Doubles>(detail::scale, values); }
  void exchange(Octets& block) {
    core::Invocation _call(*this, detail::exchange);
    if (_call.try_local(block)) return;
    _call.marshal(block);
    _call.invoke();
    _call.unmarshal(block);
  }
  void refuse(const Octets& block) {
    core::Invocation _call(*this, detail::refuse);
    if (_call.try_local(block)) return;
    _call.marshal(block);
    _call.invoke();
    _call.unmarshal();
  }
  void put(const Octets& block) {
    core::Invocation _call(*this, detail::put);
    if (_call.try_local(block)) return;
    _call.marshal(block);
    _call.invoke();
  }

 private:
  template <typename Result, typename... T>
  Result call(const core::Operation& operation, const T&... arguments) {
    Result _result{};
    core::Invocation _call(*this, operation);
    if (_call.try_local(_result, arguments...)) return _result;
    _call.marshal(arguments...);
    _call.invoke();
    _call.unmarshal(_result);
    return _result;
  }
};

}  // namespace Storing

namespace IDL {
template <>
struct traits<Storing::Store> : core::InterfaceTraits<Storing::Store> {};
}  // namespace IDL

namespace POA_Storing {

using Storing::Doubles;
using Storing::Octets;

class Store : public virtual PortableServer::ServantBase {
 public:
  using _stub_type = Storing::Store;
  virtual Octets echo(const Octets& block) = 0;
  virtual Octets join(const Octets& first, const Octets& second) = 0;
  virtual Doubles scale(const Doubles& values) = 0;
  virtual void exchange(Octets& block) = 0;
  virtual void refuse(const Octets& block) = 0;
  virtual void put(const Octets& block) = 0;
  const core::Skeleton& _skeleton() const noexcept override;
  void* _self() noexcept override { return this; }
};

namespace detail {
Store& self_of(void* self) { return *static_cast<Store*>(self); }
template <typename T>
T& at(void* const* frame, int index) {
  return *static_cast<T*>(frame[index]);
}
using Request = core::ServerRequest;

constexpr core::Upcall upcalls[] = {
    {.name = "echo",
     .remote =
         [](void* self, Request& r) {
           Octets block;
           r.unmarshal(block);
           r.marshal(self_of(self).echo(block));
         },
     .local = [](void* self, void* const* f) { at<Octets>(f, 0) = self_of(self).echo(at<const Octets>(f, 1)); }},
    {.name = "exchange",
     .remote =
         [](void* self, Request& r) {
           Octets block;
           r.unmarshal(block);
           self_of(self).exchange(block);
           r.marshal(block);
         },
     .local = [](void* self, void* const* f) { self_of(self).exchange(at<Octets>(f, 0)); }},
    {.name = "join",
     .remote =
         [](void* self, Request& r) {
           Octets first, second;
           r.unmarshal(first, second);
           r.marshal(self_of(self).join(first, second));
         },
     .local =
         [](void* self, void* const* f) {
           at<Octets>(f, 0) = self_of(self).join(at<const Octets>(f, 1), at<const Octets>(f, 2));
         }},
    {.name = "put",
     .remote =
         [](void* self, Request& r) {
           Octets block;
           r.unmarshal(block);
           self_of(self).put(block);
         },
     .local = [](void* self, void* const* f) { self_of(self).put(at<const Octets>(f, 0)); },
     .oneway = true},
    {.name = "refuse",
     .remote =
         [](void* self, Request& r) {
           Octets block;
           r.unmarshal(block);
           self_of(self).refuse(block);
           r.marshal();
         },
     .local = [](void* self, void* const* f) { self_of(self).refuse(at<const Octets>(f, 0)); }},
    {.name = "scale",
     .remote =
         [](void* self, Request& r) {
           Doubles values;
           r.unmarshal(values);
           r.marshal(self_of(self).scale(values));
         },
     .local = [](void* self, void* const* f) { at<Doubles>(f, 0) = self_of(self).scale(at<const Doubles>(f, 1)); }},
};
constexpr const char* ids[] = {"IDL:Storing/Store:1.0", "IDL:omg.org/CORBA/Object:1.0"};
constexpr core::Skeleton skeleton{.ids = ids, .upcalls = upcalls};
}  // namespace detail

const core::Skeleton& Store::_skeleton() const noexcept { return detail::skeleton; }

}  // namespace POA_Storing

namespace CORBA {
template <>
struct servant_traits<Storing::Store> : poa::ServantTraits<POA_Storing::Store> {};
}  // namespace CORBA

namespace corelane::testing::stores {
namespace {

using Storing::Doubles;
using Storing::Octets;

// Returns bytes that differ between the blocks of a test, and between the parts of a block.
Octets block_of(std::size_t size, unsigned seed = 1) {
  Octets block(size);
  fill_with_pattern(block.data(), size, seed);
  return block;
}

class StoreServant : public virtual CORBA::servant_traits<Storing::Store>::base_type {
 public:
  Octets echo(const Octets& block) override { return block; }
  Octets join(const Octets& first, const Octets& second) override {
    Octets both = first;
    both.insert(both.end(), second.begin(), second.end());
    return both;
  }
  Doubles scale(const Doubles& values) override {
    Doubles scaled = values;
    for (double& value : scaled) value *= 2;
    return scaled;
  }
  void exchange(Octets& block) override { std::reverse(block.begin(), block.end()); }
  void refuse(const Octets&) override { throw CORBA::BAD_PARAM(77, CORBA::COMPLETED_YES); }
  void put(const Octets& block) override {
    const std::lock_guard lock(mutex_);
    stored_.push_back(block);
  }
  std::vector<Octets> stored() {
    const std::lock_guard lock(mutex_);
    return stored_;
  }

 private:
  std::mutex mutex_;
  std::vector<Octets> stored_;
};

struct StoreServer {
  explicit StoreServer(std::vector<std::string> options = {}) : orb(std::move(options)) {
    orb.root()->the_POAManager()->activate();
    reference = orb.root()->servant_to_reference(servant);
  }
  TestOrb orb;
  CORBA::servant_reference<StoreServant> servant = CORBA::make_reference<StoreServant>();
  CORBA::object_reference<CORBA::Object> reference;
};

CORBA::object_reference<Storing::Store> store_of(TestOrb& client, const std::string& uri) {
  return core::make_stub<Storing::Store>(client->string_to_object(uri)->_reference());
}

// A store, its servant, and one way to call it.
struct Remote {
  explicit Remote(std::vector<std::string> server_options, std::vector<std::string> client_options = {})
      : server(std::move(server_options)),
        client(std::move(client_options)),
        store(store_of(client, server.orb->object_to_string(server.reference))) {}
  StoreServer server;
  TestOrb client;
  CORBA::object_reference<Storing::Store> store;
  StoreServant& servant() { return *server.servant; }
};
struct Tcp : Remote {
  Tcp() : Remote({"-ORBEndpointListen", "127.0.0.1:0"}) {}
};
struct Path {
  const TempDirectory directory{};
};
struct Unix : Path, Remote {
  Unix() : Remote({"-ORBEndpointListen", "unix:" + directory.path() + "/store.sock"}) {}
};
struct OverChannel : Path, Remote {
  OverChannel() : Remote({"-ORBEndpointListen", "channel:" + directory.path() + "/store.sock"}) {}
};
// Neither the server's thread nor the client's sleeps, so the server reads requests while they are sent.
struct SpinningChannel : Path, Remote {
  SpinningChannel()
      : Remote({"-ORBEndpointListen", "channel:" + directory.path() + "/store.sock", "-ORBBestEffortWait", "spin"},
               {"-ORBClientWait", "spin"}) {}
};
struct Followers : Remote {
  Followers() : Remote({"-ORBDispatchMode", "leader-followers"}) {}
};
struct SharedTcp : Remote {  // all threads use one connection
  SharedTcp() : Remote({"-ORBEndpointListen", "127.0.0.1:0"}, {"-ORBClientConnections", "1"}) {}
};
struct Local {
  StoreServer server;
  CORBA::object_reference<Storing::Store> store = core::make_stub<Storing::Store>(server.reference->_reference());
  StoreServant& servant() { return *server.servant; }
};
using Ways = WithFollowers<Followers, Tcp, Unix, OverChannel, SharedTcp, Local>;

// Returns sizes around each limit where the ORB changes its method, with and without the message header.
std::vector<std::size_t> interesting_sizes() {
  std::vector<std::size_t> sizes{0, 1, 7, 1000};
  constexpr std::size_t kib = 1024;
  for (const std::size_t step : {8 * kib, cdr::Writer::refers_from, cdr::Writer::memory_from, 68 * kib, 256 * kib})
    for (const std::size_t header : {std::size_t{0}, std::size_t{28}, std::size_t{64}, std::size_t{100}})
      for (const int by : {-1, 0, 1}) sizes.push_back(step - header + static_cast<std::size_t>(by));
  sizes.insert(sizes.end(), {1'048'576, 3'000'001});
  return sizes;
}

// Calls until the oneways have arrived. Bound: they are delivered.
template <typename Way>
std::vector<Octets> stored(Way& way, std::size_t count) {
  while (way.servant().stored().size() < count) way.store->echo({});
  return way.servant().stored();
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("blocks around every threshold go both ways whole", "", Ways) {
  TestType way;
  unsigned seed = 0;
  for (const std::size_t size : interesting_sizes()) {
    const Octets block = block_of(size, ++seed);
    INFO(size);
    CHECK((way.store->echo(block) == block));
  }
}

TEMPLATE_LIST_TEST_CASE("long blocks before the last argument arrive as well", "", Ways) {
  TestType way;
  for (const std::size_t first : {10u, 20'000u, 70'000u})
    for (const std::size_t second : {0u, 11u, 20'001u, 70'001u}) {
      const Octets a = block_of(first, 1), b = block_of(second, 2);
      Octets both = a;
      both.insert(both.end(), b.begin(), b.end());
      CHECK((way.store->join(a, b) == both));
    }
}

TEMPLATE_LIST_TEST_CASE("long sequences of numbers stay aligned", "", Ways) {
  TestType way;
  for (const std::size_t size : {0u, 1u, 2047u, 2048u, 2049u, 8192u, 200'000u}) {
    Doubles values(size);
    std::iota(values.begin(), values.end(), 0.25);
    Doubles twice = values;
    for (double& value : twice) value *= 2;
    CHECK((way.store->scale(values) == twice));
  }
}

TEMPLATE_LIST_TEST_CASE("an inout block is replaced where it lies", "", Ways) {
  TestType way;
  for (const std::size_t size : {100u, 20'000u, 70'000u, 1'000'000u}) {
    Octets block = block_of(size);
    Octets turned(block.rbegin(), block.rend());
    const std::uint8_t* const place = block.data();
    way.store->exchange(block);
    CHECK((block == turned));
    CHECK(block.data() == place);  // in the caller's memory; nothing was allocated
  }
}

TEMPLATE_LIST_TEST_CASE("a oneway block is its caller's to change once the call has returned", "", Ways) {
  TestType way;
  const std::vector<std::size_t> sizes{100, 20'000, 70'000, 3'000'000};
  for (const std::size_t size : sizes) {
    Octets block = block_of(size);
    way.store->put(block);
    std::fill(block.begin(), block.end(), std::uint8_t{0});
  }
  const auto all = stored(way, sizes.size());
  for (const std::size_t size : sizes) CHECK(std::count(all.begin(), all.end(), block_of(size)) == 1);
}

TEMPLATE_LIST_TEST_CASE("an exception after a long argument leaves its connection in order", "", Ways) {
  TestType way;
  for (const std::size_t size : {20'000u, 70'000u, 1'000'000u}) {
    const Octets block = block_of(size);
    CHECK_THROWS_AS(way.store->refuse(block), CORBA::BAD_PARAM);
    CHECK((way.store->echo(block) == block));
  }
}

TEMPLATE_LIST_TEST_CASE("several threads get each its own block back", "", Ways) {
  TestType way;
  std::atomic<int> right{0};
  {
    std::vector<std::jthread> callers;
    for (unsigned t = 0; t < 4; ++t)
      callers.emplace_back([&, t] {
        for (unsigned i = 0; i < 20; ++i) {
          const Octets block = block_of(3'000 + 17'000 * ((t + i) % 5), 100 * t + i);
          right += way.store->echo(block) == block;
        }
      });
  }
  CHECK(right == 80);
}

TEST_CASE("long arguments that are read while they are sent arrive whole") {
  SpinningChannel way;
  const int callers = GENERATE(1, 3);
  std::atomic<int> right{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < callers; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 20; ++i) {
          const Octets block = block_of(200'000 + 150'000 * static_cast<unsigned>((t + i) % 6));
          right += way.store->echo(block) == block;
          Octets both = way.store->join(Octets(1000, 7), block);
          both.erase(both.begin(), both.begin() + 1000);
          right += both == block;
          const Doubles values(100'000 + static_cast<unsigned>(i), 0.5);
          right += way.store->scale(values) == Doubles(values.size(), 1);
        }
      });
  }
  CHECK(right == 60 * callers);
}

TEST_CASE("the limit of a message counts a block that is not copied") {
  StoreServer server;
  TestOrb client({"-ORBLimitsMessageSize", "40000"});
  const auto store = store_of(client, server.orb->object_to_string(server.reference));
  std::size_t longest = 0;
  for (std::size_t size = 39'800; size <= 40'000; ++size) {
    const Octets block = block_of(size);
    try {
      store->put(block);
      CHECK((longest == 0 || longest + 1 == size));  // once a block was refused, no longer one is sent
      longest = size;
    } catch (const CORBA::IMP_LIMIT& refusal) {
      CHECK(refusal.minor() == minor::message_too_large);
      CHECK(refusal.completed() == CORBA::COMPLETED_NO);
    }
  }
  CHECK(longest > 39'800);
  CHECK(longest < 40'000);
  CHECK(store->echo(block_of(10)) == block_of(10));
}

TEST_CASE("a forward carries long arguments on") {
  const std::string version = GENERATE("1.0", "1.1", "1.2");
  const std::string key = GENERATE("any", "anyone");  // so that the arguments begin at another offset
  const std::string listen = GENERATE("127.0.0.1:0", "unix:", "channel:");
  const std::size_t size = GENERATE(10u, 20'000u, 70'000u, 3'000'000u);
  const TempDirectory directory;
  StoreServer server({"-ORBEndpointListen", listen.back() == ':' ? listen + directory.path() + "/s.sock" : listen});
  Acceptor acceptor;
  TestOrb client;
  const auto store = store_of(client, acceptor.corbaloc(version, key));
  std::jthread agent([&] {
    Wire wire = acceptor.next();
    const auto request = wire.next();
    REQUIRE(request);
    forward(wire, *request, server.reference->_reference()->ior());
  });
  const Octets a = block_of(size, 1), b = block_of(size, 2);
  Octets both = a;
  both.insert(both.end(), b.begin(), b.end());
  CHECK((store->join(a, b) == both));
  agent.join();
  CHECK((store->echo(a) == a));
}

TEST_CASE("a call that was not read goes whole over the next connection") {
  const std::size_t size = GENERATE(10u, 20'000u, 70'000u, 3'000'000u);
  Acceptor acceptor;
  TestOrb client;
  const auto store = store_of(client, acceptor.corbaloc());
  Octets came;
  std::jthread agent([&] {
    {
      Wire wire = acceptor.next();
      REQUIRE(wire.next());
      close_in_order(wire);
    }
    Wire wire = acceptor.next();
    const auto request = wire.next();
    REQUIRE(request);
    auto parsed = giop::parse_request(*request, {});
    REQUIRE(decode(parsed->body, came));
    cdr::Writer writer;
    begin_reply_to(*request, writer);
    encode(writer, came);
    wire.send(writer);
    (void)wire.next();  // keeps the connection open until the client has continued
  });
  const Octets block = block_of(size);
  CHECK((store->echo(block) == block));
  CHECK((came == block));
  client->destroy();
}

}  // namespace corelane::testing::stores
