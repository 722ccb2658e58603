#include "orb/dispatch/admission/admission_queue.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "orb/base/minor.h"
#include "orb/base/peer.h"

namespace admission_queue_test {
namespace {

using namespace corelane;
using namespace corelane::dispatch;
using namespace std::chrono_literals;

class Handler final : public AdmissionHandler {
 public:
  explicit Handler(std::vector<Error>& errors) : errors_(errors) {}
  void admitted(const Admission&) noexcept override {}
  void refused(const sched::Refusal&) noexcept override {}
  void failed(Error error) noexcept override { errors_.push_back(error); }

 private:
  std::vector<Error>& errors_;
};

// Returns the first connection of the holder with that number.
constexpr PeerId peer(std::uint32_t holder) { return peer_of(holder, holder); }

class Queue {
 public:
  // Returns false if the queue rejected a request to make room.
  bool ask(PeerId owner, const std::string& label = {}, Duration deadline = {}, Duration jitter = {}) {
    auto candidate = std::make_unique<AdmissionCandidate>();
    candidate->contract.deadline = deadline;
    candidate->contract.jitter = jitter;
    candidate->owner = owner;
    candidate->label = label;
    candidate->handler = std::make_unique<Handler>(errors);
    return queue.push(std::move(candidate));
  }
  void ask_often(PeerId owner, std::size_t times) {
    while (times-- > 0) ask(owner);
  }
  std::string next() {
    const AdmissionCandidatePtr next = queue.pop();
    return next ? next->label : "nobody";
  }
  // Returns how many pops it takes until the request with that label comes, that one included.
  int turns_until(const std::string& label) {
    int turns = 1;
    while (next() != label) REQUIRE(++turns <= static_cast<int>(AdmissionQueue::most));
    return turns;
  }

  AdmissionQueue queue;
  std::vector<Error> errors;
};

}  // namespace

TEST_CASE("admission requests of one peer are served in the order in which they came") {
  Queue queue;
  CHECK(queue.queue.empty());
  for (const char* label : {"one", "two", "three"}) CHECK(queue.ask(peer(1), label));
  CHECK_FALSE(queue.queue.empty());
  CHECK(queue.next() == "one");
  CHECK(queue.next() == "two");
  CHECK(queue.next() == "three");
  CHECK(queue.next() == "nobody");
  CHECK(queue.queue.empty());
}

TEST_CASE("peers are served by turns, and all connections of a holder have one turn") {
  Queue queue;
  for (const char* label : {"1a", "1b", "1c"}) queue.ask(peer(1), label);
  queue.ask(peer(2), "2a");
  queue.ask(peer_of(77, 2), "2b");
  queue.ask(PeerId{3}, "3a");  // an unknown holder
  for (const char* label : {"1a", "2a", "3a", "1b", "2b", "1c"}) CHECK(queue.next() == label);
}

TEST_CASE("a peer that asks once is served after at most two requests of each other peer") {
  constexpr std::uint32_t floods = 16;
  Queue queue;
  for (std::uint32_t round = 0; round < 200; ++round)
    for (std::uint32_t i = 1; i <= floods; ++i) queue.ask(peer(i));
  const int served = GENERATE(0, 1, 8, 100);
  for (int i = 0; i < served; ++i) queue.next();
  CHECK(queue.ask(peer(floods + 1), "once") == (served > 0));  // a full queue rejects another one
  CHECK(queue.turns_until("once") <= static_cast<int>(2 * floods + 1));
}

TEST_CASE("a peer that asks anew whenever it was served keeps no other one waiting") {
  Queue queue;
  queue.ask(peer(1), "first");
  queue.ask(peer(1), "second");
  queue.ask(peer(2), "again");
  int turns = 0;
  for (std::string served; served != "second"; ++turns) {
    REQUIRE(turns < 10);
    served = queue.next();
    if (served == "again") queue.ask(peer(2), "again");
  }
  CHECK(turns <= 4);
}

TEST_CASE("requests of this process are in the next round, however many they are") {
  Queue queue;
  queue.ask_often(peer(1), 10);
  for (int i = 0; i < 10; ++i) queue.ask(PeerId{}, "own");
  queue.next();
  for (int i = 0; i < 10; ++i) CHECK(queue.next() == "own");
}

// Urgency.

TEST_CASE("of the peers whose turn it is, the one with the most urgent request comes first") {
  Queue queue;
  queue.ask(peer(1), "1a", 30ms);
  queue.ask(peer(1), "1b", 30ms);
  queue.ask(peer(2), "2a", 10ms);
  queue.ask(peer(3), "3a", 20ms);
  queue.ask(peer(4), "4a", 25ms, 10ms);  // its urgency is 15 ms
  queue.ask(peer(5), "5a", 10ms);
  for (const char* label : {"2a", "5a", "4a", "3a", "1a", "1b"}) CHECK(queue.next() == label);
}

TEST_CASE("an urgent request overtakes those of its own peer and takes nobody else's turn") {
  Queue queue;
  queue.ask(peer(1), "slow", 90ms);
  queue.ask(peer(1), "slower", 95ms);
  queue.ask(peer(2), "first turn", 50ms);
  queue.ask(peer(2), "second turn", 50ms);
  queue.ask(peer(1), "urgent", 60ms);
  for (const char* label : {"first turn", "urgent", "second turn", "slow", "slower"}) CHECK(queue.next() == label);
}

TEST_CASE("an urgent request overtakes only the less urgent ones of its peer") {
  Queue queue;
  for (const auto& [label, deadline] :
       {std::pair{"10", 10ms}, {"30", 30ms}, {"20", 20ms}, {"20 again", 20ms}, {"5", 5ms}})
    queue.ask(peer(1), label, deadline);
  for (const char* label : {"5", "10", "20", "20 again", "30"}) CHECK(queue.next() == label);
}

TEST_CASE("requests of this process are served in the order of their urgency") {
  Queue queue;
  queue.ask(PeerId{}, "late", 30ms);
  queue.ask(PeerId{}, "early", 10ms);
  queue.ask(PeerId{}, "later", 40ms);
  for (const char* label : {"early", "late", "later"}) CHECK(queue.next() == label);
}

TEST_CASE("a request is overtaken by a bounded number of urgent requests of its peer") {
  constexpr int most = AdmissionQueue::most_overtaking;
  SECTION("that wait") {
    Queue queue;
    queue.ask(peer(1), "slow", 100ms);
    for (int i = 0; i < 2 * most; ++i) queue.ask(peer(1), "fast", 90ms - i * 1ms);
    CHECK(queue.turns_until("slow") == most + 1);
  }
  SECTION("that come one after the other") {
    Queue queue;
    queue.ask(peer(1), "slow", 100ms);
    int turns = 0;
    for (std::string served; served != "slow"; ++turns) {
      REQUIRE(turns <= most);
      queue.ask(peer(1), "fast", 10ms);
      served = queue.next();
    }
    CHECK(turns == most + 1);
  }
}

TEST_CASE("a peer that floods with urgent requests delays no other peer longer") {
  constexpr std::uint32_t floods = 16;
  Queue queue;
  for (std::uint32_t round = 0; round < 60; ++round)
    for (std::uint32_t i = 1; i <= floods; ++i) queue.ask(peer(i), "flood", 60ms - round * 1ms);
  const int served = GENERATE(0, 1, 17, 100);
  for (int i = 0; i < served; ++i) queue.next();
  queue.ask(peer(floods + 1), "once", 1s);
  CHECK(queue.turns_until("once") <= static_cast<int>(2 * floods + 1));
}

// A full queue.

TEST_CASE("a full queue turns the least urgent request of the peer away of which most wait") {
  Queue queue;
  for (std::size_t i = 1; i < AdmissionQueue::most; ++i) queue.ask(peer(1), "waits", 50ms);
  CHECK(queue.ask(peer(1), "least urgent", 100ms));
  CHECK_FALSE(queue.ask(peer(1), "waits", 50ms));
  CHECK(queue.errors.size() == 1);
  for (std::size_t i = 0; i < AdmissionQueue::most; ++i) REQUIRE(queue.next() == "waits");
  CHECK(queue.next() == "nobody");
}

TEST_CASE("a full queue turns the newest of equally urgent requests away") {
  Queue queue;
  queue.ask_often(peer(1), AdmissionQueue::most - 10);
  for (int i = 0; i < 10; ++i) CHECK(queue.ask(peer(2), "other"));
  CHECK(queue.errors.empty());
  CHECK_FALSE(queue.ask(peer(1), "too many"));
  CHECK(queue.errors.size() == 1);
  CHECK_FALSE(queue.ask(peer(2), "other"));
  CHECK_FALSE(queue.ask(peer(3), "new"));
  CHECK(queue.errors.size() == 3);
  for (const Error& error : queue.errors)
    CHECK(error == Error{.kind = ErrorKind::transient, .minor = minor::queue_full});
  int others = 0, news = 0, all = 0;
  for (std::string label = queue.next(); label != "nobody"; label = queue.next(), ++all) {
    CHECK(label != "too many");
    others += label == "other" ? 1 : 0;
    news += label == "new" ? 1 : 0;
  }
  CHECK(others == 11);
  CHECK(news == 1);
  CHECK(all == static_cast<int>(AdmissionQueue::most));
}

TEST_CASE("a queue with requests of as many peers as it has places takes no other peer and loses none") {
  Queue queue;
  for (std::uint32_t i = 1; i <= AdmissionQueue::most; ++i) REQUIRE(queue.ask(peer(i), "waits"));
  CHECK_FALSE(queue.ask(peer(AdmissionQueue::most + 1), "too many"));
  CHECK(queue.errors.size() == 1);
  for (std::size_t i = 0; i < AdmissionQueue::most; ++i) CHECK(queue.next() == "waits");
  CHECK(queue.next() == "nobody");
}

TEST_CASE("a request of this process replaces a request that waits for a later round") {
  Queue queue;
  queue.ask_often(peer(1), AdmissionQueue::most);
  CHECK_FALSE(queue.ask(PeerId{}, "own"));
  queue.next();
  CHECK(queue.next() == "own");
}

// Disconnects and shutdown.

TEST_CASE("admission requests of a connection that is gone are told so, and no others are") {
  Queue queue;
  queue.ask(peer(1), "gone");
  queue.ask(peer_of(77, 1), "another connection of that holder");
  queue.ask(peer(1), "gone");
  queue.queue.drop(peer(1));
  REQUIRE(queue.errors.size() == 2);
  CHECK(queue.errors[0].minor == minor::unknown_task);
  CHECK(queue.next() == "another connection of that holder");
  CHECK(queue.next() == "nobody");
}

TEST_CASE("a closed queue tells those that wait and those that come") {
  Queue queue;
  queue.ask(peer(1));
  queue.queue.close();
  queue.ask(peer(2));
  REQUIRE(queue.errors.size() == 2);
  for (const Error& error : queue.errors) CHECK(error.minor == minor::shutting_down);
  CHECK(queue.next() == "nobody");
}

TEST_CASE("admission requests of several threads are each served or refused once") {
  constexpr int threads = 4, each = 3000;
  AdmissionQueue queue;
  std::atomic<int> failed{0}, served{0}, asking{threads};
  struct Counter final : AdmissionHandler {
    explicit Counter(std::atomic<int>& its) : count(its) {}
    void admitted(const Admission&) noexcept override {}
    void refused(const sched::Refusal&) noexcept override {}
    void failed(Error) noexcept override { count.fetch_add(1, std::memory_order_relaxed); }  // relaxed: a count
    std::atomic<int>& count;
  };
  {
    std::vector<std::jthread> askers;
    for (std::uint32_t thread = 0; thread < threads; ++thread)
      askers.emplace_back([&, thread] {
        for (int i = 0; i < each; ++i) {
          auto candidate = std::make_unique<AdmissionCandidate>();
          candidate->owner = peer(thread + 1);
          candidate->handler = std::make_unique<Counter>(failed);
          queue.push(std::move(candidate));
        }
        asking.fetch_sub(1, std::memory_order_relaxed);  // relaxed: the queue orders its contents
      });
    const std::jthread server([&] {
      for (bool last = false; !last || !queue.empty();) {
        last = asking.load(std::memory_order_relaxed) == 0;                  // relaxed: as above; it looks once more
        while (queue.pop()) served.fetch_add(1, std::memory_order_relaxed);  // relaxed: read after the threads ended
      }
    });
  }
  while (queue.pop()) ++served;
  CHECK(served + failed == threads * each);
}

}  // namespace admission_queue_test
