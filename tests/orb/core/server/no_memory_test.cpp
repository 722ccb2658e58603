// Tests what a server does when the system gives it no memory. Each allocation of its threads fails once. In another
// run, all allocations from each one on fail until the client has its answer. Also tests what the server keeps of the
// memory that it got.
#include <malloc.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>
#include <new>

#include "orb/base/minor.h"
#include "orb/base/sanitizer.h"
#include "orb/core/client/reference.h"
#include "orb/core/lifecycle/orb_state.h"
#include "orb/core/requests/request_order.h"
#include "tests/support/failing_allocations.h"
#include "tests/support/peers/bare_wire.h"
#include "tests/support/probe_servant.h"
#include "tests/support/quiet.h"
#include "tests/support/system/temp_directory.h"

namespace {

// Counts allocations of threads other than the test's own, until one fails. Negative: none fails.
std::atomic<long> allocations_left{-1};
std::atomic<bool> fails_on{false};  // all later allocations fail, too
std::atomic<long> allocations_failed{0};
thread_local bool spared = false;

// Bytes that the process holds in allocations of a megabyte and more.
constexpr long large = 1024 * 1024;
std::atomic<long> held_large{0};

[[maybe_unused]] void count_large(void* memory, long sign) noexcept {
  const auto size = static_cast<long>(malloc_usable_size(memory));
  if (size >= large) held_large.fetch_add(sign * size, std::memory_order_relaxed);  // relaxed: a count
}

[[maybe_unused]] bool is_refused() noexcept {
  // relaxed everywhere: these are counts, and no data depends on them
  long left = allocations_left.load(std::memory_order_relaxed);
  long next = -1;
  do {  // in one step: a thread that is about to fail must not restart a shortage that has ended
    if (spared || left < 0) return false;
    next = left > 0 || !fails_on.load(std::memory_order_relaxed) ? left - 1 : 0;
  } while (!allocations_left.compare_exchange_weak(left, next, std::memory_order_relaxed));  // relaxed: as above
  if (left > 0) return false;
  allocations_failed.fetch_add(1, std::memory_order_relaxed);
  return true;
}

}  // namespace

#if !CORELANE_ADDRESS_SANITIZER && \
    !CORELANE_THREAD_SANITIZER  // the sanitizer brings its own operators and checks that they match
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  if (corelane::testing::refuses_allocation(size) || is_refused()) return nullptr;
  void* const memory = std::malloc(size ? size : 1);
  count_large(memory, 1);
  return memory;
}
void* operator new[](std::size_t size, const std::nothrow_t& tag) noexcept { return operator new(size, tag); }
void* operator new(std::size_t size) {
  if (void* memory = operator new(size, std::nothrow)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  count_large(memory, -1);
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept { operator delete(memory); }
#endif

using namespace corelane;
using namespace corelane::testing;

namespace {

// A client that sends one request and waits for the answer. Connects again if it lost its last connection.
class Caller {
 public:
  explicit Caller(ProbeServer& server) : endpoint_(server.orb->endpoints().front()), key_(server.key()) {
    spared = true;
  }
  ~Caller() { spared = false; }

  void ping() { begin_request(writer_, ++id_, key_, "ping"); }
  void echo(std::size_t size) {
    begin_request(writer_, ++id_, key_, "echo");
    writer_.write_string(std::string(size, 'x'));
  }
  void is_a() {
    begin_request(writer_, ++id_, key_, "_is_a");
    writer_.write_string("IDL:Probing/Probe:1.0");
  }

  // Returns the kind of the exception. Returns nothing for a result, and for the end of the connection.
  std::optional<ErrorKind> say(Duration patience = std::chrono::seconds{30}) {
    if (!wire_) wire_ = std::make_unique<Wire>(wires_, endpoint_);
    const auto message = wire_->send(writer_) ? wire_->next(patience) : std::nullopt;
    answered = message && message->header.type == giop::MessageType::reply;
    if (!answered) return wire_.reset(), std::nullopt;
    auto reply = giop::parse_reply(*message, {});
    REQUIRE(reply);
    if (reply->header.status != giop::ReplyStatus::system_exception) return std::nullopt;
    return giop::decode_system_exception(reply->body)->kind;
  }
  void forget_connection() { wire_.reset(); }

  bool answered = false;

 private:
  const transport::Endpoint endpoint_;
  const std::vector<std::byte> key_;
  Wires wires_;
  std::unique_ptr<Wire> wire_;
  cdr::Writer writer_;
  std::uint32_t id_ = 0;
};

// Makes the n-th allocation from now fail.
class Shortage {
 public:
  Shortage(long nth, bool lasts) {
    allocations_failed.store(0, std::memory_order_relaxed);
    fails_on.store(lasts, std::memory_order_relaxed);
    allocations_left.store(nth, std::memory_order_relaxed);
  }
  ~Shortage() { allocations_left.store(-1, std::memory_order_relaxed); }
  bool came() const { return allocations_failed.load(std::memory_order_relaxed) > 0; }
};

struct Case {
  const char* name;
  void (*say)(Caller& caller);
};

}  // namespace

// Counts the calling thread's allocations.
TEST_CASE("a warm call allocates nothing on its client's thread") {
#if CORELANE_ADDRESS_SANITIZER || CORELANE_THREAD_SANITIZER
  std::cout << "SKIPPED: the sanitizer's operator new is in use, allocations are not counted\n";
#else
  const std::string kind = GENERATE(as<std::string>{}, "127.0.0.1:0", "unix:", "channel:", "local");
  const TempDirectory directory;
  ProbeServer server({"-ORBEndpointListen", kind.ends_with(':') ? kind + directory / "s" : "127.0.0.1:0"});
  TestOrb client;
  const auto probe = kind == "local" ? server.reference : probe_of(client, server.ior());
  const std::string text(10'000, 'x');
  std::size_t allocated = 0;
  for (int round = 0; round < 200; ++round) {
    if (round == 100) allocated = allocations();
    probe->add(round, 1);
    probe->ping();
    if (kind != "local") probe->note(text);  // a local servant keeps the text, on this thread
  }
  CHECK(allocations() == allocated);
#endif
}

TEST_CASE("a server that lacks memory for a request says so or ends its connection and goes on") {
#if CORELANE_ADDRESS_SANITIZER || CORELANE_THREAD_SANITIZER
  std::cout << "SKIPPED: the sanitizer's operator new is in use, allocations do not fail\n";
  return;
#endif
  const Quiet quiet;
  ProbeServer server;
  Caller caller(server);
  const auto asked = GENERATE(Case{"a small request", [](Caller& c) { c.ping(); }},
                              Case{"a large request", [](Caller& c) { c.echo(200'000); }},
                              Case{"a question that needs no servant", [](Caller& c) { c.is_a(); }});
  const bool lasts = GENERATE(false, true);
  const bool anew = GENERATE(false, true);  // over a new connection
  INFO(asked.name << (lasts ? ", all allocations from one on" : ", one allocation") << (anew ? ", anew" : ""));
  long shortages = 0;
  bool came = true;
  bool answered = false;
  // Bound: the number of allocations of one request, because each turn fails a later one. A turn is repeated if a busy
  // server has not even begun while memory was short.
  for (long nth = 0; came || !answered; nth += came ? 1 : 0) {
    INFO("allocation " << nth);
    {
      if (anew) caller.forget_connection();
      const Shortage shortage(nth, lasts);
      asked.say(caller);
      // Without any memory the server may be silent until it gets some again.
      const auto kind = lasts ? caller.say(std::chrono::milliseconds{20}) : caller.say();
      came = shortage.came();
      answered = caller.answered;
      if (kind) CHECK(*kind == ErrorKind::no_memory);
      if (!came && !lasts) CHECK(answered);
    }
    caller.ping();
    auto after = caller.say();
    if (!caller.answered) after = caller.say();  // the server may have given up the connection after its answer
    CHECK_FALSE(after);
    REQUIRE(caller.answered);
    shortages += came ? 1 : 0;
  }
  CHECK(shortages > 0);
}

namespace {
// Runs a function whose n-th allocation fails, for each n. `after` runs after each failure.
template <typename What, typename After>
void lack_memory_at_each_allocation(const What& what, const After& after) {
  bool failed = true;
  for (std::size_t nth = 0; failed; ++nth) {  // bound: the function's allocations
    INFO("allocation " << nth);
    try {
      const FailingAllocations failing({.first = nth, .lasting = false});
      what();
      failed = false;
    } catch (const std::bad_alloc&) {
    }
    if (failed) after();
  }
}
}  // namespace

TEST_CASE("an activation that lacks memory leaves nothing active") {
#if CORELANE_ADDRESS_SANITIZER || CORELANE_THREAD_SANITIZER
  std::cout << "SKIPPED: the sanitizer's operator new is in use, allocations do not fail\n";
  return;
#endif
  TestOrb orb;
  const auto poa = orb.root();
  const auto servant = CORBA::make_reference<ProbeServant>();
  const PortableServer::ObjectId id(100, 'i');  // longer than what a string holds in itself
  poa->activate_object_with_id(id, servant);    // starts threads
  poa->deactivate_object(id);
  lack_memory_at_each_allocation([&] { poa->activate_object_with_id(id, servant); },
                                 [&] {
                                   CHECK_NOTHROW(poa->activate_object_with_id(id, servant));
                                   CHECK_NOTHROW(poa->deactivate_object(id));
                                 });
  CHECK(poa->id_to_servant(id).get() == servant.get());
}

TEST_CASE("a deactivation that lacks memory leaves the object active") {
#if CORELANE_ADDRESS_SANITIZER || CORELANE_THREAD_SANITIZER
  std::cout << "SKIPPED: the sanitizer's operator new is in use, allocations do not fail\n";
  return;
#endif
  TestOrb orb;
  const auto poa = orb.root();
  const auto servant = CORBA::make_reference<ProbeServant>();
  const PortableServer::ObjectId id(100, 'i');
  poa->activate_object_with_id(id, servant);
  lack_memory_at_each_allocation([&] { poa->deactivate_object(id); },
                                 [&] { CHECK(poa->servant_to_id(servant) == id); });
  CHECK_THROWS_AS(poa->id_to_servant(id), PortableServer::POA::ObjectNotActive);
}

namespace {
class EmptyJob final : public dispatch::Job {
 public:
  void run(const dispatch::JobContext&) noexcept override {}
  void refuse(const sched::Refusal&) noexcept override {}
  void fail(Error) noexcept override {}
  void recycle() noexcept override {}
};
}  // namespace

TEST_CASE("a request that has waited begins without an allocation") {
#if CORELANE_ADDRESS_SANITIZER || CORELANE_THREAD_SANITIZER
  std::cout << "SKIPPED: the sanitizer's operator new is in use, allocations are not counted\n";
  return;
#endif
  EmptyJob first, waiting, second;
  core::RequestOrder order({.parallel = 1});
  const int object = 0;
  const core::RequestOrder::Key key{.object = &object};
  REQUIRE(order.detach(first, key));
  dispatch::JobPtr job(&waiting);
  REQUIRE(order.enter(job, key) == core::RequestOrder::Decision::waits);
  REQUIRE(order.detach(second, key));
  REQUIRE_FALSE(order.begin_wait());
  REQUIRE(order.begin_wait());
  const std::size_t before = allocations();
  const auto next = order.take();
  const std::size_t allocated = allocations() - before;  // CHECK() allocates, too
  CHECK(allocated == 0);
  CHECK(next.job.get() == &waiting);
}

TEST_CASE("a server keeps nothing of the memory of long requests and replies") {
#if CORELANE_ADDRESS_SANITIZER || CORELANE_THREAD_SANITIZER
  std::cout << "SKIPPED: the sanitizer's operator new is in use, nothing is counted\n";
  return;
#endif
  ProbeServer server;
  const long before = held_large.load(std::memory_order_relaxed);  // relaxed: a count
  {
    Caller caller(server);
    caller.echo(3 * large);
    CHECK_FALSE(caller.say());
    REQUIRE(caller.answered);
  }
  server.orb.orb->shutdown(true);                               // afterwards all jobs are back in their pools
  CHECK(held_large.load(std::memory_order_relaxed) == before);  // relaxed: ordered by the shutdown
}
