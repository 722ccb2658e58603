#include "orb/dispatch/serving/serving_threads.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <latch>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "orb/dispatch/current.h"
#include "orb/os/clock.h"
#include "orb/os/fd.h"

namespace serving_threads_test {
namespace {

using namespace corelane;
using namespace corelane::dispatch;
using namespace std::chrono_literals;

// What a thread runs at its end if this was set when it served its first request.
std::atomic<const std::function<void()>*> at_thread_end{nullptr};

struct AtThreadEnd {
  ~AtThreadEnd() {
    if (run != nullptr) (*run)();
  }
  const std::function<void()>* const run = at_thread_end.load(std::memory_order_acquire);  // PAIR: the test's store
};

// Runs the requests. Each letter is one request.
struct Servant {
  void serve(char letter) {
    thread_local const AtThreadEnd of_thread;
    {
      const std::lock_guard lock(mutex);
      threads.insert(std::this_thread::get_id());
    }
    switch (letter) {
      case 'b':  // blocks
        ++blocked;
        while (!released) std::this_thread::yield();
        break;
      case 'n': {  // waits for a request of another connection, as in a nested call
        const SuspensionScope waits;
        const int before = served;
        while (served == before) std::this_thread::yield();
        break;
      }
      case 'g':  // notes how many requests were given back
        given_back_before = given_back;
        break;
      default:
        break;
    }
    ++served;
  }

  std::atomic<int> served{0}, blocked{0}, given_back{0};
  int given_back_before = 0;
  std::atomic<bool> released{false};
  std::mutex mutex;
  std::set<std::thread::id> threads;
};

class Letter final : public Job {
 public:
  Letter(Servant& servant, char letter, int reply_to) : servant_(servant), letter_(letter), reply_to_(reply_to) {}
  void run(const JobContext&) noexcept override { servant_.serve(letter_); }
  void finish() noexcept override { (void)::send(reply_to_, &letter_, 1, MSG_NOSIGNAL); }
  void refuse(const sched::Refusal&) noexcept override {}
  void fail(Error) noexcept override {}
  void recycle() noexcept override {
    ++servant_.given_back;
    delete this;
  }

 private:
  Servant& servant_;
  const char letter_;
  const int reply_to_;
};

// A connection on which each letter is a request. The reply is the same letter.
class Letters final : public RequestSource {
 public:
  Letters(Servant& servant, os::Fd fd) : servant_(servant), fd_(std::move(fd)) {}

  Found next(JobPtr& job, MutableBytes buffer, Time until) noexcept override {
    if (is_blocked) {
      sees_end = has_end();
      return ++found_blocked, Found::blocked;
    }
    if (rest_.empty()) {
      pollfd wait{.fd = fd_.get(), .events = POLLIN, .revents = 0};
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(os::left_until(until)).count();
      if (::poll(&wait, 1, static_cast<int>(left)) <= 0) return Found::nothing;
      const ssize_t count = ::recv(fd_.get(), buffer.data(), 8, MSG_DONTWAIT);
      if (count <= 0) return ended = true, Found::gone;
      rest_ = Bytes(buffer).first(static_cast<std::size_t>(count));
    }
    const char letter = static_cast<char>(rest_.front());
    rest_ = rest_.subspan(1);
    if (letter == 'l') return Found::leaves;
    job.reset(new Letter(servant_, letter, fd_.get()));
    return Found::job;
  }
  // Tells the test. If `back_to` is set, the connection comes back at once, as another source.
  void leave() noexcept override {
    has_left = true;
    if (back_to) (void)back_to->add(std::make_shared<Letters>(servant_, std::move(fd_)));
  }
  void finish(JobPtr job) noexcept override { job->finish(); }
  void send_kept() noexcept override { ++kept_sent; }
  bool detach() noexcept override {
    kept_.assign(rest_.begin(), rest_.end());
    rest_ = kept_;
    ++detached;
    return !rest_.empty();
  }
  Next finish_detached(JobPtr job) noexcept override {
    job->finish();
    const char letter = waiting.exchange('\0');
    return {.job = JobPtr(letter == '\0' ? nullptr : new Letter(servant_, letter, fd_.get()))};
  }
  Next take_waiting() noexcept override { return {}; }
  bool begin_wait(WaitsFor) noexcept override { return false; }
  bool end_wait(WaitsFor) noexcept override { return false; }
  bool arm() noexcept override { return ++armed, rest_.empty(); }
  // Returns whether the connection is quiet after so many requests, if it was also quiet after each one before. It is
  // armed when it is added, and whenever it becomes quiet.
  bool is_quiet_after(int requests) const noexcept { return armed > requests; }
  int descriptor() const noexcept override { return fd_.get(); }
  bool unblocked() noexcept override { return !is_blocked || (!sees_end && has_end()); }
  bool block() noexcept override { return ++blocks, is_blocked; }
  std::optional<std::uint32_t> end_events() const noexcept override {
    return sees_end ? std::nullopt : std::optional<std::uint32_t>(EPOLLRDHUP);
  }
  Time expires_at() const noexcept override { return expires.load(std::memory_order_relaxed); }  // relaxed: polled
  bool expire(Time now) noexcept override {
    if (!is_kept) return ended = now >= expires_at();
    expires.store(never, std::memory_order_relaxed);  // relaxed: the caller reads it
    return false;
  }
  bool evict(bool) noexcept override { return ended = !is_kept; }
  void close() noexcept override { ::shutdown(fd_.get(), SHUT_RDWR); }

  std::atomic<bool> ended{false};
  std::atomic<bool> has_left{false};
  ServingThreads* back_to = nullptr;
  std::atomic<char> waiting{'\0'};  // a request that waits until a detached one has ended
  std::atomic<int> detached{0};
  std::atomic<int> kept_sent{0};  // how often send_kept() was called
  std::atomic<int> armed{0};      // how often it was added to the epoll set
  std::atomic<Time> expires{never};
  std::atomic<bool> is_blocked{false}, sees_end{false}, is_kept{false};
  std::atomic<int> found_blocked{0}, blocks{0};

 private:
  bool has_end() const noexcept {
    pollfd end{.fd = fd_.get(), .events = POLLRDHUP, .revents = 0};
    return ::poll(&end, 1, 0) > 0;
  }

  Servant& servant_;
  os::Fd fd_;
  Bytes rest_;
  std::vector<std::byte> kept_;
};

// Returns how often the threads of this process that serve or watch servants have begun to wait.
std::uint64_t wake_ups() {
  std::uint64_t sum = 0;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream status(thread.path() / "status");
    std::string key, name;
    std::uint64_t count = 0;
    while (status >> key) {  // bound: the file
      if (key == "Name:") status >> name;
      if (key == "voluntary_ctxt_switches:") status >> count;
    }
    if (name.starts_with("cl-")) sum += count;
  }
  return sum;
}

// Serving threads and their clients.
struct Server {
  explicit Server(ServingOptions options = {.stay = 20ms, .stack = 256 * 1024}) : threads(options) {
    REQUIRE(threads.start());
  }
  ~Server() {
    servant.released = true;
    threads.stop();
  }

  struct Client {
    void send(const std::string& letters) const {
      REQUIRE(::send(fd.get(), letters.data(), letters.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(letters.size()));
    }
    std::string receive(std::size_t count) const {
      std::string text(count, ' ');
      const ssize_t got = ::recv(fd.get(), text.data(), count, MSG_WAITALL);
      text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
      return text;
    }
    os::Fd fd;
    std::shared_ptr<Letters> source;
  };
  Client client(Time expires = never) {
    int ends[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    Client made{.fd = os::Fd(ends[0]), .source = std::make_shared<Letters>(servant, os::Fd(ends[1]))};
    made.source->expires.store(expires, std::memory_order_relaxed);  // relaxed: before it is added
    REQUIRE(threads.add(made.source));
    return made;
  }

  Servant servant;
  ServingThreads threads;
};

}  // namespace

TEST_CASE("requests of one connection are answered in their order, on one thread") {
  Server server;
  const auto client = server.client();
  for (int i = 0; i < 100; ++i) {
    client.send("q");
    REQUIRE(client.receive(1) == "q");
  }
  client.send("acdef");
  CHECK(client.receive(5) == "acdef");
  CHECK(server.servant.threads.size() == 1);
  CHECK(server.threads.jobs() >= 104);
}

TEST_CASE("a servant that takes long does not make its connection deaf, or others wait") {
  ServingOptions options{.stay = 20ms, .stack = 256 * 1024};
  options.running = GENERATE(1u, 2u, 16u);
  Server server(options);
  const auto slow = server.client(), other = server.client();
  slow.send("bqr");
  CHECK(slow.receive(2) == "qr");
  other.send("q");
  CHECK(other.receive(1) == "q");
  CHECK(slow.source->detached == 1);
  server.servant.released = true;
  CHECK(slow.receive(1) == "b");
  slow.send("q");
  CHECK(slow.receive(1) == "q");
}

TEST_CASE("a detached request that has ended is given back before its thread runs what waited for it") {
  Server server;
  const auto client = server.client();
  client.source->waiting = 'g';
  client.send("b");
  while (client.source->detached == 0) std::this_thread::yield();
  server.servant.released = true;
  CHECK(client.receive(2) == "bg");
  CHECK(server.servant.given_back_before == 1);
}

TEST_CASE("as many servants as may be detached block, and the next request is served") {
  Server server({.running = 1, .detached = 5, .stay = 20ms, .stack = 256 * 1024});
  std::vector<Server::Client> clients;
  for (int i = 0; i < 5; ++i) {
    clients.push_back(server.client());
    clients.back().send("b");
  }
  while (server.servant.blocked < 5) std::this_thread::yield();
  const auto next = server.client();
  next.send("q");
  CHECK(next.receive(1) == "q");
  CHECK(server.threads.threads() <= 6);
}

TEST_CASE("a request waits until fewer servants run than the limit says, and its connection is not taken over") {
  Server server({.stay = 20ms, .stack = 256 * 1024, .servants = {.most = 2}});
  const auto first = server.client(), second = server.client(), third = server.client();
  first.send("b");
  second.send("b");
  while (server.servant.blocked < 2) std::this_thread::yield();
  third.send("q");
  while (first.source->detached + second.source->detached < 2) std::this_thread::yield();
  CHECK(server.servant.served == 0);
  server.servant.released = true;
  CHECK(third.receive(1) == "q");
  CHECK(third.source->detached == 0);
  CHECK(server.threads.servant_limit() == 2);
}

TEST_CASE("a connection whose request waits for the limit first sends the replies that it keeps") {
  Server server({.stay = 20ms, .stack = 256 * 1024, .servants = {.most = 1}});
  const auto first = server.client(), second = server.client();
  first.send("b");
  while (server.servant.blocked < 1) std::this_thread::yield();
  CHECK(first.source->kept_sent == 0);
  second.send("q");
  while (second.source->kept_sent == 0) std::this_thread::yield();  // bound: the limit holds
  CHECK(server.servant.served == 0);
  server.servant.released = true;
  CHECK(second.receive(1) == "q");
}

TEST_CASE("a servant in a nested call does not count under the limit") {
  Server server({.stay = 20ms, .stack = 256 * 1024, .servants = {.most = 1}});
  const auto nested = server.client(), other = server.client();
  nested.send("n");
  char reply = ' ';
  do {  // the nested call may begin after some of these requests
    other.send("q");
    CHECK(other.receive(1) == "q");
  } while (::recv(nested.fd.get(), &reply, 1, MSG_DONTWAIT) != 1);
  CHECK(reply == 'n');
}

TEST_CASE("threads end while requests wait for the limit") {
  Server server({.stay = 20ms, .stack = 256 * 1024, .servants = {.most = 1}});
  const auto first = server.client(), second = server.client();
  first.send("b");
  while (server.servant.blocked < 1) std::this_thread::yield();
  second.send("b");
  server.servant.released = true;
  server.threads.stop();
  SUCCEED("stop() returned");
}

TEST_CASE("many more connections than threads are served") {
  Server server({.running = 3, .stay = 20ms, .stack = 256 * 1024});
  std::vector<Server::Client> clients;
  for (int i = 0; i < 50; ++i) clients.push_back(server.client());
  for (int round = 0; round < 20; ++round) {
    for (const auto& client : clients) client.send("q");
    for (const auto& client : clients) REQUIRE(client.receive(1) == "q");
  }
  CHECK(server.threads.connections() == 50);
}

TEST_CASE("each thread but the leader keeps its connection, and the leader serves the others") {
  ServingOptions options{.patience = 1h, .stay = 1h, .stack = 256 * 1024};
  options.running = GENERATE(2u, 3u, 6u);
  Server server(options);
  std::vector<Server::Client> clients;
  for (std::size_t i = 0; i < options.running; ++i) clients.push_back(server.client());
  for (int round = 0; round < 100; ++round)
    for (const auto& client : clients) {
      client.send("q");
      REQUIRE(client.receive(1) == "q");
    }
  const auto kept = std::count_if(clients.begin(), clients.end(), [](const auto& c) { return c.source->armed == 1; });
  CHECK(static_cast<std::size_t>(kept) >= options.running - 1);
  CHECK(server.threads.threads() == options.running);
}

TEST_CASE("a thread watches its quiet connection, and serves its next request") {
  Server server({.patience = 1h, .stay = 1ms, .stack = 256 * 1024});
  const auto client = server.client();
  for (int round = 0; round < 20; ++round) {
    client.send("q");
    REQUIRE(client.receive(1) == "q");
    while (!client.source->is_quiet_after(round + 1)) std::this_thread::yield();
  }
  CHECK(server.servant.threads.size() == 1);
}

TEST_CASE("a thread at a quiet connection is called to other work, and the connection is still served") {
  Server server({.running = 2, .patience = 1h, .stay = 1ms, .stack = 256 * 1024});
  const auto quiet = server.client(), blocking = server.client(), other = server.client();
  quiet.send("q");
  REQUIRE(quiet.receive(1) == "q");
  while (!quiet.source->is_quiet_after(1)) std::this_thread::yield();
  blocking.send("b");  // takes the leader
  while (server.servant.blocked == 0) std::this_thread::yield();
  for (const auto* client : {&other, &quiet, &other, &quiet}) {  // all on the other thread
    client->send("q");
    REQUIRE(client->receive(1) == "q");
  }
  CHECK(server.threads.threads() == 2);
}

TEST_CASE("a thread that waited at a quiet connection ends, and the connection is still served") {
  Server server({.running = 5, .patience = 1h, .stay = 1ms, .linger = 1ms, .stack = 256 * 1024});
  std::vector<Server::Client> clients;
  for (int i = 0; i < 4; ++i) {
    clients.push_back(server.client());
    clients.back().send("b");
    while (server.servant.blocked <= i) std::this_thread::yield();
  }
  server.servant.released = true;
  for (const auto& client : clients) CHECK(client.receive(1) == "b");
  while (server.threads.threads() > 2) std::this_thread::yield();
  for (const auto& client : clients) {
    client.send("q");
    CHECK(client.receive(1) == "q");
  }
}

TEST_CASE("a quiet connection that is ended is let go of by the thread that watches it") {
  Server server({.patience = 1h, .stay = 1ms, .stack = 256 * 1024});
  enum class Ends { evicted, expired, by_peer };
  const auto how = GENERATE(Ends::evicted, Ends::expired, Ends::by_peer);
  std::weak_ptr<Letters> gone;
  {
    auto client = server.client();
    gone = client.source;
    client.send("q");
    REQUIRE(client.receive(1) == "q");
    while (!client.source->is_quiet_after(1)) std::this_thread::yield();
    if (how == Ends::evicted) {
      while (!server.threads.evict(client.source)) std::this_thread::yield();  // until its turn is free
      client.source->close();
    } else if (how == Ends::expired) {
      client.source->expires.store(os::now(), std::memory_order_relaxed);  // relaxed: the threads look again and again
      server.client(os::now());                                            // makes them look
      while (!client.source->ended) std::this_thread::yield();
      client.source->close();
    }
  }  // ends the client: the peer of the connection
  while (!gone.expired() || server.threads.connections() > 0) std::this_thread::yield();
}

TEST_CASE("no request of a quiet connection is lost, whatever other threads do with the connection meanwhile") {
  Server server({.running = 3, .patience = 1h, .stay = 1ms, .linger = 1ms, .stack = 256 * 1024});
  std::vector<Server::Client> clients;
  for (int i = 0; i < 6; ++i) clients.push_back(server.client());
  for (const auto& client : clients) client.source->is_kept = true;
  std::atomic<int> evicted{0};
  const std::jthread disturbs([&](std::stop_token stop) {
    for (std::size_t i = 0; !stop.stop_requested(); ++i) {
      const auto& source = clients[i % clients.size()].source;
      const std::size_t what = i / clients.size() % 3;
      if (what == 0) server.threads.resume(source);
      if (what == 1 && server.threads.evict(source)) ++evicted;
      if (what == 2) source->expires.store(os::now(), std::memory_order_relaxed);  // relaxed: the threads look again
      std::this_thread::sleep_for(100us);  // sleep: pauses of many lengths between calls, some of them quiet
    }
  });
  for (int round = 0; round < 300; ++round) {
    std::this_thread::sleep_for(std::chrono::microseconds{round % 5 * 700});  // sleep: as above
    const auto& client = clients[static_cast<std::size_t>(round * round) % clients.size()];
    const auto& other = clients[static_cast<std::size_t>(round) % clients.size()];
    client.send("q");
    other.send("q");
    REQUIRE(client.receive(1) == "q");
    REQUIRE(other.receive(1) == "q");
  }
  CHECK(evicted == 0);
  CHECK(server.threads.connections() == clients.size());
}

TEST_CASE("threads without work have no wake-ups") {
  Server server({.stay = 1ms, .linger = 1ms, .stack = 256 * 1024});
  const auto client = server.client();
  client.send("q");
  REQUIRE(client.receive(1) == "q");
  constexpr int tries = 500;
  int tried = 0;
  // sleep: time for wake-ups, of which threads that look every few milliseconds have some
  for (std::uint64_t before = wake_ups(), now = 0; tried < tries; before = now, ++tried) {
    std::this_thread::sleep_for(30ms);
    now = wake_ups();
    if (now == before) break;
  }
  CHECK(tried < tries);
}

TEST_CASE("a request that waits in a nested call is replaced, so that what it waits for is served") {
  Server server({.running = 1, .stay = 20ms, .stack = 256 * 1024});
  std::vector<Server::Client> waiting;
  for (int i = 0; i < 4; ++i) {
    waiting.push_back(server.client());
    waiting.back().send("n");
  }
  const auto last = server.client();
  std::jthread goes_on([&](std::stop_token stop) {
    while (!stop.stop_requested()) {
      last.send("q");
      if (last.receive(1) != "q") return;
    }
  });
  for (const auto& client : waiting) CHECK(client.receive(1) == "n");
}

TEST_CASE("a connection that ends is let go of, whether a thread waits there or not") {
  Server server;
  const bool after_a_call = GENERATE(true, false);
  std::weak_ptr<Letters> gone;
  {
    auto client = server.client();
    gone = client.source;
    if (after_a_call) {
      client.send("q");
      REQUIRE(client.receive(1) == "q");
    }
  }
  while (!gone.expired() || server.threads.connections() > 0) std::this_thread::yield();
}

TEST_CASE("a connection that leaves can come back at once") {
  Server server;
  auto client = server.client();
  client.source->back_to = &server.threads;
  client.send("al");
  CHECK(client.receive(1) == "a");
  client.send("c");
  CHECK(client.receive(1) == "c");
  CHECK(client.source->has_left);
  CHECK(server.threads.connections() == 1);
}

TEST_CASE("a connection whose time has come is ended") {
  Server server;
  const auto client = server.client(os::now() + 5ms);
  while (!client.source->ended || server.threads.connections() > 0) std::this_thread::yield();
}

TEST_CASE("a connection gives way unless a thread is busy with it") {
  Server server;
  const auto idle = server.client(), busy = server.client();
  busy.send("b");
  while (server.servant.blocked == 0) std::this_thread::yield();
  busy.send("b");
  while (server.servant.blocked < 2) std::this_thread::yield();
  CHECK(server.threads.evict(idle.source));
  CHECK(idle.source->ended);
  CHECK(server.threads.connections() == 1);
}

TEST_CASE("a connection that is blocked is asked again when its peer ends it, and then no more") {
  Server server;
  auto client = server.client();
  const auto other = server.client();
  client.source->is_blocked = true;
  client.send("aa");
  while (client.source->found_blocked == 0) std::this_thread::yield();
  CHECK_FALSE(client.source->sees_end);
  client.fd.reset();
  while (client.source->found_blocked < 2) std::this_thread::yield();
  CHECK(client.source->sees_end);
  for (int i = 0; i < 30; ++i) {
    other.send("a");
    CHECK(other.receive(1) == "a");
  }
  CHECK(client.source->found_blocked <= 3);  // found by the event, and by the thread that looked again
  client.source->is_blocked = false;
  server.threads.resume(client.source);  // now what it sent is read
  while (!client.source->ended) std::this_thread::yield();
}

TEST_CASE("a connection that does not give way or end in time is blocked if it may not be read") {
  Server server({.stay = 0ms, .stack = 256 * 1024});
  const bool is_blocked = GENERATE(false, true), is_evicted = GENERATE(false, true);
  const auto client = server.client();
  client.source->is_kept = true;
  client.source->is_blocked = is_blocked;
  if (is_evicted) {
    while (client.source->blocks == 0) CHECK_FALSE(server.threads.evict(client.source));  // once no thread has it
  } else {
    client.source->expires.store(os::now(), std::memory_order_relaxed);  // relaxed: the threads look again and again
    server.client(os::now());                                            // makes them look
    while (client.source->blocks == 0) std::this_thread::yield();
  }
  if (is_blocked) {
    client.send("a");
    const auto other = server.client();
    other.send("a");
    CHECK(other.receive(1) == "a");
    CHECK(client.source->found_blocked == 0);  // no thread waits for its bytes
    client.source->is_blocked = false;
    server.threads.resume(client.source);
  } else {
    client.send("a");
  }
  CHECK(client.receive(1) == "a");
}

TEST_CASE("a thread that ends slowly does not hold up the others, nor those that ask about them") {
  // Makes three threads. One of them ends when none of them has work.
  Server server({.running = 3, .patience = 1h, .stay = 0ms, .linger = 1ms, .stack = 256 * 1024});
  std::atomic<bool> ends{false}, may_end{false};
  const std::function<void()> end_slowly = [&] {
    ends = true;
    while (!may_end) (void)server.threads.threads();
  };
  at_thread_end.store(&end_slowly, std::memory_order_release);  // PAIR: AtThreadEnd
  const auto first = server.client(), second = server.client(), third = server.client();
  const auto answer = [](const Server::Client& client) {
    client.send("q");
    return client.receive(1) == "q";
  };
  const auto block = [&](const Server::Client& client, int blocked) {
    client.send("b");
    while (server.servant.blocked < blocked) std::this_thread::yield();
  };
  block(first, 1);
  block(second, 2);
  CHECK(answer(third));
  server.servant.released = true;
  CHECK(first.receive(1) + second.receive(1) == "bb");
  while (!ends) std::this_thread::yield();
  server.servant.released = false;
  block(first, 3);
  second.send("b");      // makes a third thread again, while the earlier one still ends
  CHECK(answer(third));  // on that thread
  may_end = true;
  server.servant.released = true;
  CHECK(first.receive(1) + second.receive(1) == "bb");
  server.threads.stop();
  at_thread_end.store(nullptr, std::memory_order_relaxed);  // relaxed: the threads have ended
}

TEST_CASE("stop() lets requests end, and closes what waits") {
  Server server;
  const auto idle = server.client(), busy = server.client();
  busy.send("b");
  while (server.servant.blocked == 0) std::this_thread::yield();
  std::jthread stops([&] { server.threads.stop(); });
  CHECK(idle.receive(1).empty());
  server.servant.released = true;
  stops.join();
  CHECK(idle.source->ended);
  CHECK_FALSE(server.threads.add(idle.source));
}

}  // namespace serving_threads_test
