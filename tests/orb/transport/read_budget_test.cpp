// What a reactor may use for reading and draining: on a made-up clock, then with connections that wait for their turn.
#include "orb/transport/detail/read_budget.h"

#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <vector>

#include "orb/base/minor.h"
#include "orb/os/clock.h"
#include "tests/orb/transport/kinds.h"
#include "tests/support/stream_harness.h"

using namespace corelane;
using namespace corelane::transport;
using namespace std::chrono_literals;

namespace {

constexpr Time at(Duration since_start) { return Time{1s + since_start}; }
constexpr sched::Reservation all{400us, 1ms};

}  // namespace

TEST_CASE("strangers may use half of the reader's budget and then wait for its return") {
  ReadBudget budget(all);
  ReadAccount stranger;
  REQUIRE(budget.readable_at(at(0us), stranger) == at(0us));
  budget.charge(at(150us), 150us, stranger);
  CHECK(budget.readable_at(at(150us), stranger) == at(150us));
  budget.charge(at(200us), 50us, stranger);
  CHECK(budget.readable_at(at(200us), stranger) == at(1000us));
  CHECK(budget.readable_at(at(1ms), stranger) == at(1ms));
}

TEST_CASE("strangers that flood take nothing from connections with tasks") {
  ReadBudget budget(all);
  ReadAccount flood, ours{.payer = ReadPayer::tasks};
  for (Duration now{}; now < 100ms;) {
    const Time next = budget.readable_at(at(now), flood);
    if (next > at(now)) {
      CHECK(budget.readable_at(at(now), ours) == at(now));
      now = next - at(0us);
    }
    now += 30us;
    budget.charge(at(now), 30us, flood);
  }
}

TEST_CASE("a connection with tasks that floods leaves the others as much") {
  ReadBudget budget(all);
  ReadAccount flood{.payer = ReadPayer::tasks}, other{.payer = ReadPayer::tasks};
  REQUIRE(budget.readable_at(at(0us), flood) == at(0us));
  budget.charge(at(100us), 100us, flood);
  CHECK(budget.readable_at(at(100us), flood) == at(1ms));
  CHECK(budget.readable_at(at(100us), other) == at(100us));
}

TEST_CASE("whatever comes reading takes at most its budget and a turn in any window of the period") {
  ReadBudget budget(all);
  ReadAccount accounts[] = {{}, {}, {.payer = ReadPayer::tasks}, {.payer = ReadPayer::tasks}};
  constexpr Duration turn = 30us;
  std::vector<Time> ends;
  std::size_t which = 0;
  for (Time now = at(0us); now < at(50ms);) {
    which = (which + 1) % 4;
    if (budget.readable_at(now, accounts[which]) > now) {
      now += 7us;
      continue;
    }
    now += turn;
    budget.charge(now, turn, accounts[which]);
    ends.push_back(now);
  }
  for (std::size_t first = 0; first < ends.size(); ++first) {
    std::size_t last = first;
    while (last + 1 < ends.size() && ends[last + 1] <= ends[first] - turn + all.period) ++last;
    CHECK(static_cast<int>(last - first + 1) * turn <= all.budget + 2 * turn);  // each half ends with a turn begun
  }
}

// Connections that wait. The period is an hour: what has to wait does so to the end of the test.

namespace {

constexpr sched::Reservation once_an_hour{40us, 1h};

// The callers have a reactor of their own, which drains what they send without a limit.
class Limited : public testing::StreamHarness<testing::TcpV4> {
 public:
  Limited() : callers_(std::move(*Reactor::start())), outward_(testing::TcpV4::make(*callers_, {})) {}
  ~Limited() { callers_->stop(); }

  struct End {
    testing::Pair pair;
    std::shared_ptr<testing::Collector> collector = std::make_shared<testing::Collector>();
  };
  End watched() {
    auto caller = outward_->connect(listener->endpoint(), testing::patience());
    REQUIRE(caller);
    End end{{std::move(*caller), accepted.take()}};
    end.pair.called->watch(end.collector);
    return end;
  }
  // More than its part of the budget allows to be read.
  void flood(const End& end) {
    REQUIRE(testing::send(end.pair.caller, testing::pattern(size)));
    while (reactor->deferred_reads() == 0) std::this_thread::yield();  // bound: the budget ends
  }
  static constexpr std::size_t size = 4 << 20;

 private:
  std::unique_ptr<Reactor> callers_;
  std::unique_ptr<Transport> outward_;
};

}  // namespace

TEST_CASE("a connection with tasks is read while strangers wait for their budget") {
  Limited server;
  const auto stranger = server.watched(), ours = server.watched();
  ours.pair.called->read_for_tasks();
  server.reactor->limit_reads(once_an_hour);
  server.flood(stranger);
  CHECK(stranger.collector->text().size() < Limited::size);
  REQUIRE(testing::send(ours.pair.caller, "hello"));
  CHECK(ours.collector->wait_for(5) == "hello");
}

namespace {

// So much that no single turn of a few bytes uses up anybody's part.
constexpr sched::Reservation generous{400ms, 1h};

// Long enough to use up the part of a connection with tasks, if that paid for it.
void occupy(Reactor& reactor) {
  testing::Mailbox<bool> done;
  reactor.post([&] {
    const Duration begun = os::thread_cpu_time();
    while (os::thread_cpu_time() - begun < generous.budget / 3) continue;  // bound: this thread's processor time
    done.put(true);
  });
  done.take();
}

}  // namespace

TEST_CASE("what else the reactor's thread did is not charged to the connection that is read next") {
  Limited server;
  const auto ours = server.watched();
  ours.pair.called->read_for_tasks();
  server.reactor->limit_reads(generous);
  occupy(*server.reactor);
  REQUIRE(testing::send(ours.pair.caller, "hello"));
  REQUIRE(ours.collector->wait_for(5) == "hello");
  REQUIRE(testing::send(ours.pair.caller, " again"));
  CHECK(ours.collector->wait_for(11) == "hello again");
  CHECK(server.reactor->deferred_reads() == 0);
}

TEST_CASE("a stranger's backlog is drained within the strangers' budget, and tasks are read meanwhile") {
  Limited server;
  const auto stranger = server.watched(), ours = server.watched();
  ours.pair.called->read_for_tasks();
  server.reactor->limit_reads(once_an_hour);
  const std::string reply = testing::pattern(4 * Limited::size);
  REQUIRE(testing::send(stranger.pair.called, reply));  // most of it waits for the peer
  std::string got;
  while (server.reactor->deferred_reads() == 0 && got.size() < reply.size())
    got += testing::read(stranger.pair.caller, 1024);
  CHECK(got.size() < reply.size());
  REQUIRE(testing::send(ours.pair.caller, "hello"));
  CHECK(ours.collector->wait_for(5) == "hello");
}

TEST_CASE("a backlog that waits for the budget is drained in the end and in its order") {
  Limited server;
  const auto slow = server.watched();
  server.reactor->limit_reads({40us, 400us});
  const std::string reply = testing::pattern(2 * Limited::size);
  REQUIRE(testing::send(slow.pair.called, reply));
  CHECK(testing::read(slow.pair.caller, reply.size()) == reply);
  CHECK(server.reactor->deferred_reads() > 0);
}

TEST_CASE("a backlog that waits for the budget ends with the connection") {
  Limited server;
  const auto slow = server.watched();
  server.reactor->limit_reads(once_an_hour);
  REQUIRE(testing::send(slow.pair.called, testing::pattern(4 * Limited::size)));
  while (server.reactor->deferred_reads() == 0) (void)testing::read(slow.pair.caller, 1024);  // bound: the budget ends
  slow.pair.called->close();
  CHECK(slow.collector->closed.take().minor == minor::closed_here);
}

TEST_CASE("a stranger that waits can be taken back and received from with no byte lost") {
  Limited server;
  const auto stranger = server.watched();
  server.reactor->limit_reads(once_an_hour);
  server.flood(stranger);
  stranger.pair.called->unwatch();
  const std::string before = stranger.collector->text();
  const std::string rest = testing::read(stranger.pair.called, Limited::size - before.size());
  CHECK(before + rest == testing::pattern(Limited::size));
}

TEST_CASE("a stranger that waits hears when the connection or the reactor ends") {
  Limited server;
  const auto stranger = server.watched(), other = server.watched();
  server.reactor->limit_reads(once_an_hour);
  server.flood(stranger);
  stranger.pair.called->close();
  CHECK(stranger.collector->closed.take().minor == minor::closed_here);
  server.reactor->stop();
  CHECK(other.collector->closed.take().minor == minor::shutting_down);
}

TEST_CASE("what waits is read in the end and in its order") {
  Limited server;
  server.reactor->limit_reads({40us, 400us});
  const auto first = server.watched(), second = server.watched();  // accepting waits for its budget, too
  constexpr std::size_t size = 256 * 1024;
  for (const auto* end : {&first, &second}) REQUIRE(testing::send(end->pair.caller, testing::pattern(size)));
  CHECK(first.collector->wait_for(size) == testing::pattern(size));
  CHECK(second.collector->wait_for(size) == testing::pattern(size));
  CHECK(server.reactor->deferred_reads() > 0);
}
