// Tests how much processor time a reactor may use to read and drain: first on a simulated clock, then with connections
// that wait for their turn.
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
constexpr sched::Reservation shared{400us, 1ms};

}  // namespace

TEST_CASE("connections without tasks may use half of the reader's budget and then wait for its return") {
  ReadBudget budget(shared);
  ReadAccount stranger;
  REQUIRE(budget.readable_at(at(0us), stranger) == at(0us));
  budget.charge(at(150us), 150us, stranger);
  CHECK(budget.readable_at(at(150us), stranger) == at(150us));
  budget.charge(at(200us), 50us, stranger);
  CHECK(budget.readable_at(at(200us), stranger) == at(1000us));
  CHECK(budget.readable_at(at(1ms), stranger) == at(1ms));
}

TEST_CASE("connections without tasks that flood take nothing from connections with tasks") {
  ReadBudget budget(shared);
  ReadAccount flood, ours{.share = ReadShare::with_tasks};
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
  ReadBudget budget(shared);
  ReadAccount flood{.share = ReadShare::with_tasks}, other{.share = ReadShare::with_tasks};
  REQUIRE(budget.readable_at(at(0us), flood) == at(0us));
  budget.charge(at(100us), 100us, flood);
  CHECK(budget.readable_at(at(100us), flood) == at(1ms));
  CHECK(budget.readable_at(at(100us), other) == at(100us));
}

TEST_CASE("reading takes at most its budget and a turn in any window of the period, whatever comes") {
  ReadBudget budget(shared);
  ReadAccount accounts[] = {{}, {}, {.share = ReadShare::with_tasks}, {.share = ReadShare::with_tasks}};
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
    while (last + 1 < ends.size() && ends[last + 1] <= ends[first] - turn + shared.period) ++last;
    // Each half ends with a turn that has begun.
    CHECK(static_cast<int>(last - first + 1) * turn <= shared.budget + 2 * turn);
  }
}

TEST_CASE("under I/O servers a connection that has used its part waits for a period from its last turn") {
  ReadBudget budget(shared, ReadLimit::everything, sched::ReaderServer::io);
  ReadAccount stranger, ours{.share = ReadShare::with_tasks};
  REQUIRE(budget.readable_at(at(0us), stranger) == at(0us));
  budget.charge(at(150us), 150us, stranger);
  REQUIRE(budget.readable_at(at(150us), stranger) == at(150us));
  budget.charge(at(200us), 50us, stranger);
  CHECK(budget.readable_at(at(200us), stranger) == at(1150us));
  CHECK(budget.readable_at(at(200us), ours) == at(200us));
  CHECK(budget.readable_at(at(1150us), stranger) == at(1150us));
}

TEST_CASE("under I/O servers a turn beyond the budget lengthens the wait") {
  ReadBudget budget(shared, ReadLimit::everything, sched::ReaderServer::io);
  ReadAccount stranger;
  REQUIRE(budget.readable_at(at(0us), stranger) == at(0us));
  budget.charge(at(300us), 300us, stranger);
  CHECK(budget.readable_at(at(300us), stranger) == at(1500us));  // 300 us of a share of a fifth
}

TEST_CASE("under I/O servers reading takes at most what admission counts, and a turn of each half") {
  ReadBudget budget(shared, ReadLimit::everything, sched::ReaderServer::io);
  ReadAccount accounts[] = {{}, {}, {.share = ReadShare::with_tasks}, {.share = ReadShare::with_tasks}};
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
  CHECK(ends.size() > 100);
  const Duration jitter = sched::reader_jitter(sched::ReaderServer::io, shared);
  for (std::size_t first = 0; first < ends.size(); ++first)
    for (std::size_t last = first; last < ends.size(); ++last) {
      const Duration window = ends[last] - (ends[first] - turn);
      const auto jobs = (window + jitter + shared.period - 1ns) / shared.period;
      REQUIRE(static_cast<int>(last - first + 1) * turn <= jobs * shared.budget + 2 * turn);
    }
}

// Work that no contract foresees. On a simulated clock, with the default budget: the platform's 20 us in each
// millisecond.

namespace {

constexpr sched::Reservation platform{20us, 1ms};
constexpr ReadTurn within{.bytes = 100, .messages = true};
constexpr ReadTurn beyond{.bytes = 100, .messages = true, .unforeseen = true};
constexpr ReadTurn one_turn{.bytes = 4096};

}  // namespace

TEST_CASE("requests that contracts foresee are read at once, however many they are and however others flood") {
  ReadBudget budget(platform, ReadLimit::unforeseen);
  ReadAccount flood, ours;
  for (Duration now{}; now < 100ms; now += 100us) {
    if (budget.readable_at(at(now), flood) == at(now)) budget.charge(at(now) + 30us, 30us, flood, beyond);
    REQUIRE(budget.readable_at(at(now) + 50us, ours) == at(now) + 50us);
    budget.charge(at(now) + 90us, 40us, ours, within);
  }
}

TEST_CASE("a connection that sends something unforeseen pays for it before it is read again") {
  ReadBudget budget(platform, ReadLimit::unforeseen);
  ReadAccount account;
  budget.charge(at(10us), 10us, account, within);
  REQUIRE(budget.readable_at(at(10us), account) == at(10us));
  budget.charge(at(30us), 20us, account, beyond);
  CHECK(budget.readable_at(at(30us), account) == at(10us) + platform.period);
  SECTION("and is free again when what it sends next is foreseen") {
    budget.charge(at(2ms), 10us, account, within);
    CHECK(budget.readable_at(at(2ms), account) == at(2ms));
    ReadAccount other{.waits_for_budget = true};
    CHECK(budget.readable_at(at(2ms), other) == at(2ms));  // the foreseen turn cost nothing
  }
  SECTION("and goes on paying while it is not") {
    budget.charge(at(2ms), 20us, account, beyond);
    CHECK(budget.readable_at(at(2ms), account) == at(2ms) - 20us + platform.period);
  }
}

TEST_CASE("many connections that send what is unforeseen share one budget") {
  ReadBudget budget(platform, ReadLimit::unforeseen);
  std::vector<ReadAccount> accounts(100, ReadAccount{.waits_for_budget = true});
  Duration used{};
  constexpr Duration turn = 7us;
  for (Duration now{}; now < 1s; now += turn)
    for (ReadAccount& account : accounts)
      if (budget.readable_at(at(now), account) == at(now)) {
        budget.charge(at(now) + turn, turn, account, beyond);
        used += turn;
        break;
      }
  CHECK(used <= 1001 * platform.budget);
  CHECK(used >= 900 * platform.budget);
}

TEST_CASE("a turn that takes too long is paid by as long a pause") {
  ReadBudget budget(platform, ReadLimit::unforeseen);
  ReadAccount account;
  budget.charge(at(200us), 200us, account, beyond);
  CHECK(budget.readable_at(at(200us), account) >= at(9ms));
  CHECK(budget.readable_at(at(200us), account) <= at(11ms));
}

TEST_CASE("the pieces of a message cost what the message turns out to be") {
  ReadBudget budget(platform, ReadLimit::unforeseen);
  ReadAccount account;
  for (int i = 0; i < 10; ++i) budget.charge(at(i * 5us), 5us, account, one_turn);
  REQUIRE(budget.readable_at(at(50us), account) == at(50us));
  SECTION("nothing where it is a task's") {
    budget.charge(at(55us), 5us, account, within);
    ReadAccount other{.waits_for_budget = true};
    CHECK(budget.readable_at(at(55us), account) == at(55us));
    CHECK(budget.readable_at(at(55us), other) == at(55us));
  }
  SECTION("and all of them where it is not") {
    budget.charge(at(55us), 5us, account, beyond);
    CHECK(budget.readable_at(at(55us), account) > at(2ms));
  }
}

TEST_CASE("a message of more than 64 KiB pays for the rest of it, whatever it is") {
  ReadBudget budget(platform, ReadLimit::unforeseen);
  ReadAccount account;
  const ReadTurn all_free{.bytes = ReadBudget::undecided_at_most};
  budget.charge(at(20us), 20us, account, all_free);
  REQUIRE(budget.readable_at(at(20us), account) == at(20us));
  budget.charge(at(21us), 1us, account, {.bytes = 1});
  CHECK(budget.readable_at(at(21us), account) > at(900us));
  budget.charge(at(2ms), 1us, account, within);
  CHECK(budget.readable_at(at(2ms), account) == at(2ms));
}

TEST_CASE("long messages that are foreseen are expected from the second on, until one is not foreseen") {
  ReadBudget budget(platform, ReadLimit::unforeseen);
  ReadAccount account;
  constexpr std::size_t length = 1024 * 1024;
  // Returns whether the connection had to wait before the message was complete.
  auto had_to_wait = [&, now = at(0us)](ReadTurn last) mutable {
    bool waited = false;
    for (std::size_t got = 0; got < length; got += 32 * 1024) {
      const Time next = budget.readable_at(now, account);
      waited = waited || next > now;
      now = next + 10us;
      budget.charge(now, 10us, account, {.bytes = 32 * 1024});
    }
    last.bytes = 0;
    budget.charge(now, 1us, account, last);
    return waited;
  };
  CHECK(had_to_wait(within));
  for (int i = 0; i < 3; ++i) CHECK_FALSE(had_to_wait(within));
  CHECK_FALSE(had_to_wait(beyond));
  CHECK(had_to_wait(within));
}

TEST_CASE("half a message that never becomes whole is paid when its connection ends") {
  ReadBudget budget(platform, ReadLimit::unforeseen);
  ReadAccount account, other{.waits_for_budget = true};
  budget.charge(at(100us), 100us, account, one_turn);
  REQUIRE(budget.readable_at(at(100us), other) == at(100us));
  budget.charge(at(110us), 1us, account, {.unforeseen = true});
  CHECK(budget.readable_at(at(110us), other) > at(2ms));
}

// Connections that wait. The period is an hour, so a connection that must wait does so until the test ends.

namespace {

constexpr sched::Reservation once_an_hour{40us, 1h};

// A server with limited reads. The callers have their own reactor, which drains what they send without a limit.
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
  // Sends more than the connection's part of the budget allows to be read.
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

TEST_CASE("a connection with tasks is read while others wait for their budget") {
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

// So large that no single turn of a few bytes uses up a connection's part.
constexpr sched::Reservation generous{400ms, 1h};

// Keeps the reactor busy. If a connection with tasks had to pay for that time, it would use up the connection's part.
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

TEST_CASE("other work of the reactor's thread is not charged to the connection that is read next") {
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

TEST_CASE("the backlog of a connection without tasks is drained within its budget, and tasks are read meanwhile") {
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

TEST_CASE("a connection without tasks that waits can be taken back and received from with no byte lost") {
  Limited server;
  const auto stranger = server.watched();
  server.reactor->limit_reads(once_an_hour);
  server.flood(stranger);
  stranger.pair.called->unwatch();
  const std::string before = stranger.collector->text();
  const std::string rest = testing::read(stranger.pair.called, Limited::size - before.size());
  CHECK(before + rest == testing::pattern(Limited::size));
}

TEST_CASE("a connection without tasks that waits hears when the connection or the reactor ends") {
  Limited server;
  const auto stranger = server.watched(), other = server.watched();
  server.reactor->limit_reads(once_an_hour);
  server.flood(stranger);
  stranger.pair.called->close();
  CHECK(stranger.collector->closed.take().minor == minor::closed_here);
  server.reactor->stop();
  CHECK(other.collector->closed.take().minor == minor::shutting_down);
}

TEST_CASE("waiting connections are read in the end, and in their order") {
  Limited server;
  server.reactor->limit_reads({40us, 400us});
  const auto first = server.watched(), second = server.watched();  // accepting uses this budget, too
  constexpr std::size_t size = 256 * 1024;
  for (const auto* end : {&first, &second}) REQUIRE(testing::send(end->pair.caller, testing::pattern(size)));
  CHECK(first.collector->wait_for(size) == testing::pattern(size));
  CHECK(second.collector->wait_for(size) == testing::pattern(size));
  CHECK(server.reactor->deferred_reads() > 0);
}

// Connections on which each message is one byte. 't' belongs to a task and is within its contract; anything else is
// not.

namespace {

class Noted : public testing::Collector {
 public:
  explicit Noted(std::shared_ptr<Connection> stream) : stream_(stream) {}
  void on_bytes(Bytes bytes, Time received) noexcept override {
    if (const auto stream = stream_.lock())
      for (const std::byte b : bytes) stream->charge_message(b == std::byte{'t'});
    Collector::on_bytes(bytes, received);
  }

 private:
  const std::weak_ptr<Connection> stream_;
};

struct LimitedUnforeseen : Limited {
  struct End {
    testing::Pair pair;
    std::shared_ptr<Noted> collector;
  };
  End noted() {
    auto end = watched();
    end.pair.called->unwatch();
    End made{end.pair, std::make_shared<Noted>(end.pair.called)};
    made.pair.called->watch(made.collector);
    return made;
  }
  // Sends unforeseen messages until the connection waits for the budget.
  void flood_with_unforeseen(const End& end) {
    const auto before = reactor->deferred_reads();
    REQUIRE(testing::send(end.pair.caller, std::string(size, 'x')));
    while (reactor->deferred_reads() == before) std::this_thread::yield();  // bound: the budget ends
  }
};

}  // namespace

TEST_CASE("foreseen requests are read while all others wait for their budget") {
  LimitedUnforeseen server;
  const auto task = server.noted();
  std::vector<LimitedUnforeseen::End> floods;
  for (int i = 0; i < 3; ++i) floods.push_back(server.noted());
  server.reactor->limit_unforeseen_reads({1us, 1h});
  for (const auto& flood : floods) server.flood_with_unforeseen(flood);
  for (std::size_t i = 1; i <= 1000; ++i) {
    REQUIRE(testing::send(task.pair.caller, "t"));
    REQUIRE(task.collector->wait_for(i).size() == i);
  }
  for (const auto& flood : floods) CHECK(flood.collector->text().size() < Limited::size);
  CHECK(server.reactor->deferred_reads() == 3);
}

TEST_CASE("accepting and backlogs do not wait for the budget of what is unforeseen") {
  LimitedUnforeseen server;
  const auto flood = server.noted();
  server.reactor->limit_unforeseen_reads({1us, 1h});
  server.flood_with_unforeseen(flood);
  const auto other = server.noted();
  const std::string reply = testing::pattern(Limited::size);
  REQUIRE(testing::send(flood.pair.called, reply));
  CHECK(testing::read(flood.pair.caller, reply.size()) == reply);
  REQUIRE(testing::send(other.pair.caller, "t"));
  CHECK(other.collector->wait_for(1) == "t");
}

TEST_CASE("a connection that waits for the budget of what is unforeseen loses no byte when it is taken back") {
  LimitedUnforeseen server;
  const auto flood = server.noted();
  server.reactor->limit_unforeseen_reads({1us, 1h});
  server.flood_with_unforeseen(flood);
  flood.pair.called->unwatch();
  const std::string before = flood.collector->text();
  const std::string rest = testing::read(flood.pair.called, Limited::size - before.size());
  CHECK(before + rest == std::string(Limited::size, 'x'));
}

TEST_CASE("connections that wait for the budget of what is unforeseen are all read in the end") {
  LimitedUnforeseen server;
  server.reactor->limit_unforeseen_reads({100us, 200us});
  constexpr std::size_t size = 64 * 1024;
  std::vector<LimitedUnforeseen::End> floods;
  for (int i = 0; i < 3; ++i) floods.push_back(server.noted());
  for (const auto& flood : floods) REQUIRE(testing::send(flood.pair.caller, std::string(size, 'x')));
  for (const auto& flood : floods) CHECK(flood.collector->wait_for(size).size() == size);
  CHECK(server.reactor->deferred_reads() > 0);
}
