// Tests in which order a server runs what one thread of a client sends to one object, over each transport.
#include <atomic>
#include <catch2/catch.hpp>
#include <future>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "orb/core/client/async_invocation.h"
#include "tests/support/probe_servant.h"
#include "tests/support/system/temp_directory.h"

namespace call_order_test {

using namespace corelane;
using namespace corelane::testing;

namespace {

// Checks the order of calls. The text of a call names its sender and the number of oneways that this thread has sent
// before: "THREAD ONEWAYS". A call is out of order if an earlier oneway has not ended when the call begins, or if a
// later one has begun.
class Watching : public ProbeServant {
 public:
  void note(const std::string& text) override { run(text, true); }
  std::string echo(const std::string& text) override {
    run(text, false);
    return text;
  }
  // Returns when two calls of add() run at the same time.
  std::int32_t add(std::int32_t a, std::int32_t b) override {
    ++met_;
    met_.notify_all();
    for (int now = met_; now < 2; now = met_) met_.wait(now);
    return a + b;
  }
  int out_of_order() {
    const std::lock_guard lock(mutex_);
    return out_of_order_;
  }
  int ended() {
    const std::lock_guard lock(mutex_);
    return ended_;
  }

 private:
  struct Oneways {
    int begun = 0, ended = 0;
  };
  void run(const std::string& text, bool oneway) {
    const std::string sender = text.substr(0, text.find(' '));
    const int before = std::stoi(text.substr(text.find(' ') + 1));
    {
      const std::lock_guard lock(mutex_);
      Oneways& its = oneways_[sender];
      // A later oneway may overtake an asynchronous call, which is not a oneway.
      if (its.ended < before || (oneway && its.begun != before)) ++out_of_order_;
      its.begun += oneway;
    }
    // Some oneways run for so long that another thread reads their connection meanwhile. Later calls could overtake
    // them then.
    if (before % 16 == 3) std::this_thread::sleep_for(std::chrono::milliseconds{1});  // sleep: the work of a servant
    const std::lock_guard lock(mutex_);
    oneways_[sender].ended += oneway;
    ++ended_;
  }

  std::mutex mutex_;
  // Guarded by mutex_.
  std::map<std::string, Oneways> oneways_;
  int out_of_order_ = 0, ended_ = 0;
  std::atomic<int> met_{0};  // calls of add()
};

struct Server {
  explicit Server(const std::vector<std::string>& options) : orb(options) {
    orb.root()->the_POAManager()->activate();
    ior = orb->object_to_string(orb.root()->servant_to_reference(servant));
  }
  void wait_until_ended(int calls) const {
    while (servant->ended() < calls) std::this_thread::yield();  // bound: the server runs everything that was sent
  }
  TestOrb orb;
  CORBA::servant_reference<Watching> servant = CORBA::make_reference<Watching>();
  std::string ior;
};

Server any_server(const TempDirectory& directory) {
  const std::string kind = GENERATE(as<std::string>{}, "127.0.0.1:0", "unix:", "channel:");
  const std::string parallel = GENERATE(as<std::string>{}, "2", "8");
  return Server({"-ORBEndpointListen", kind.ends_with(':') ? kind + directory / "server" : kind,
                 "-ORBBestEffortParallel", parallel});
}

std::string text_of(const std::string& sender, int oneways) { return sender + " " + std::to_string(oneways); }

constexpr int calls = 200;  // by each thread

// Sends mostly oneways, and a call after each nine of them.
void send_all(const CORBA::object_reference<Probing::Probe>& probe, const std::string& sender) {
  int oneways = 0;
  for (int i = 0; i < calls; ++i) {
    const std::string text = text_of(sender, oneways);
    if (i % 10 == 9)
      CHECK(probe->echo(text) == text);
    else
      probe->note(text), ++oneways;
  }
}

}  // namespace

TEST_CASE("oneways and calls of one thread to one object run in their order, also while others call it") {
  const TempDirectory directory;
  const Server server = any_server(directory);
  TestOrb left, right;
  {
    std::vector<std::jthread> threads;
    for (TestOrb* const client : {&left, &right}) {
      const auto probe = probe_of(*client, server.ior);  // one reference for all threads of a client
      for (int t = 0; t < 3; ++t) {
        const std::string sender = (client == &left ? "left" : "right") + std::to_string(t);
        threads.emplace_back([=] { send_all(probe, sender); });
      }
    }
  }
  server.wait_until_ended(6 * calls);
  CHECK(server.servant->out_of_order() == 0);
}

TEST_CASE("the order holds where the threads of a client share a connection") {
  const TempDirectory directory;
  const Server server = any_server(directory);
  TestOrb client({"-ORBClientConnections", "1"});
  const auto probe = probe_of(client, server.ior);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) threads.emplace_back([=] { send_all(probe, std::to_string(t)); });
  }
  server.wait_until_ended(4 * calls);
  CHECK(server.servant->out_of_order() == 0);
}

TEST_CASE("asynchronous calls run behind the oneways that their thread sent before") {
  const TempDirectory directory;
  const Server server = any_server(directory);
  TestOrb client;
  const auto probe = probe_of(client, server.ior);
  static constexpr core::Operation echo{.name = "echo"};
  std::atomic<int> answered{0};
  for (int i = 0; i < calls; ++i) {
    if (i % 2 == 0) {
      probe->note(text_of("one", i / 2));
      continue;
    }
    core::AsyncInvocation call(*probe, echo);
    call.marshal(text_of("one", i / 2 + 1));
    call.send([&](core::AsyncReply& reply) {
      std::string text;
      answered += reply.unmarshal(text) ? 1 : 0;
    });
    if (i % 20 == 19)
      while (answered <= i / 2) std::this_thread::yield();  // bound: each call is answered
  }
  server.wait_until_ended(calls);
  CHECK(answered == calls / 2);
  CHECK(server.servant->out_of_order() == 0);
}

TEST_CASE("calls of different threads to one object run at one time") {
  const TempDirectory directory;
  const Server server = any_server(directory);
  TestOrb client;
  const auto probe = probe_of(client, server.ior);
  // This shows that the server runs several requests at once, so that the tests above can fail.
  std::vector<std::jthread> threads;
  for (int t = 0; t < 2; ++t) threads.emplace_back([&, t] { CHECK(probe->add(t, 1) == t + 1); });
}

}  // namespace call_order_test
