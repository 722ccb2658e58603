// What a server does when the system gives it no memory: each allocation of its threads fails once, and from each one
// on all fail until the client has its answer. And what it keeps of the memory that it got.
#include <malloc.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>
#include <new>

#include "orb/base/minor.h"
#include "orb/base/sanitizer.h"
#include "orb/core/orb_state.h"
#include "orb/core/reference.h"
#include "tests/support/bare_wire.h"
#include "tests/support/probe_servant.h"
#include "tests/support/quiet.h"
#include "tests/support/temp_directory.h"

namespace {

// Allocations of other threads than the test's own until they fail; negative: none fails.
std::atomic<long> allocations_left{-1};
std::atomic<bool> fails_on{false};  // and all that follow
std::atomic<long> allocations_failed{0};
thread_local bool spared = false;
thread_local long allocations_here = 0;

// Of the process: what allocations of a megabyte and more take.
constexpr long large = 1024 * 1024;
std::atomic<long> held_large{0};

[[maybe_unused]] void count_large(void* memory, long sign) noexcept {
  const auto size = static_cast<long>(malloc_usable_size(memory));
  if (size >= large) held_large.fetch_add(sign * size, std::memory_order_relaxed);  // relaxed: a count
}

[[maybe_unused]] bool is_refused() noexcept {
  // relaxed everywhere: counts, no data depends on them
  long left = allocations_left.load(std::memory_order_relaxed);
  long next = -1;
  do {  // in one step: who is about to fail must not begin the shortage anew once it has ended
    if (spared || left < 0) return false;
    next = left > 0 || !fails_on.load(std::memory_order_relaxed) ? left - 1 : 0;
  } while (!allocations_left.compare_exchange_weak(left, next, std::memory_order_relaxed));  // relaxed: as above
  if (left > 0) return false;
  allocations_failed.fetch_add(1, std::memory_order_relaxed);
  return true;
}

}  // namespace

#if !CORELANE_ADDRESS_SANITIZER && \
    !CORELANE_THREAD_SANITIZER  // which brings its own operators and checks that they match
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations_here;
  if (is_refused()) return nullptr;
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

// A client that says one thing and hears the answer, over a new connection when it lost the last one.
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

  // The exception's kind; nothing: a result, or the end of the connection.
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

// Arms the n-th allocation from now on.
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

// Of the calling thread.
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
  long allocated = -1;
  for (int round = 0; round < 200; ++round) {
    if (round == 100) allocated = allocations_here;
    probe->add(round, 1);
    probe->ping();
    if (kind != "local") probe->note(text);  // a local servant keeps the text, on this thread
  }
  CHECK(allocations_here == allocated);
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
  // Bound: the allocations of one request; each turn's is one later. A busy server may not even have begun while memory
  // was short: the same once more.
  for (long nth = 0; came || !answered; nth += came ? 1 : 0) {
    INFO("allocation " << nth);
    {
      if (anew) caller.forget_connection();
      const Shortage shortage(nth, lasts);
      asked.say(caller);
      // Without any memory there may be silence until there is some again.
      const auto kind = lasts ? caller.say(std::chrono::milliseconds{20}) : caller.say();
      came = shortage.came();
      answered = caller.answered;
      if (kind) CHECK(*kind == ErrorKind::no_memory);
      if (!came && !lasts) CHECK(answered);
    }
    caller.ping();
    auto after = caller.say();
    if (!caller.answered) after = caller.say();  // the connection may have been given up behind its answer
    CHECK_FALSE(after);
    REQUIRE(caller.answered);
    shortages += came ? 1 : 0;
  }
  CHECK(shortages > 0);
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
  server.orb.orb->shutdown(true);                               // jobs are back where the next ones take them from
  CHECK(held_large.load(std::memory_order_relaxed) == before);  // relaxed: ordered by the shutdown
}
