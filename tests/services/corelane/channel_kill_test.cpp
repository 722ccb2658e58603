// Clients and servers that call each other through channels, killed at any moment: no call hangs, each ends with the
// truth about whether it ran, and whoever lives on holds nothing of the dead. CORELANE_KILLS says how many are
// killed (12); with it the test also says how calls ended.
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <thread>

#include "tests/support/book.h"
#include "tests/support/from_environment.h"
#include "tests/support/probe_peer.h"
#include "tests/support/probe_servant.h"
#include "tests/support/quiet.h"
#include "tests/support/temp_directory.h"

namespace channel_kill_test {

using namespace corelane;
using namespace corelane::testing;

namespace {

using Moments = std::mt19937_64;
using Ended = std::atomic<std::uint64_t>;

std::uint64_t kills() { return from_environment("CORELANE_KILLS", 12); }

std::string mode_of(std::uint64_t number) {
  constexpr const char* modes[] = {"manager", "direct", "leader-followers"};
  return modes[number % 3];
}

// A moment that falls anywhere: so many calls later, and a little more.
void wait_for_moment(Moments& random, const std::atomic<std::uint64_t>& calls) {
  const std::uint64_t target = calls.load() + random() % 40;
  while (calls.load() < target) std::this_thread::yield();
  for (std::uint64_t turns = random() % 20'000; turns != 0; --turns) os::spin_pause();
}

// How the calls ended that a death cut off.
struct Tally {
  Ended did_not_run{0}, may_have_run{0}, ran{0};

  void say() const {
    if (std::getenv("CORELANE_KILLS") != nullptr)
      std::cout << "calls cut off: " << did_not_run << " COMPLETED_NO, " << may_have_run
                << " COMPLETED_MAYBE, of which " << ran << " had begun to run\n";
  }
};

bool is_death(const CORBA::SystemException& end) {
  return dynamic_cast<const CORBA::COMM_FAILURE*>(&end) != nullptr ||
         dynamic_cast<const CORBA::TRANSIENT*>(&end) != nullptr;
}

// One server's life, and what its clients' calls come to. Catch's assertions are for one thread, so threads note what
// they find.
class Life {
 public:
  Life(TestOrb& client, const std::string& directory, std::uint64_t number)
      : book_path_(directory + "/book" + std::to_string(number)),
        book_(book_path_),
        server_({"serve", book_path_, "-ORBEndpointListen", "channel:" + directory + "/" + std::to_string(number),
                 "-ORBDispatchMode", mode_of(number)}),
        probe_(probe_of(client, server_.reference())) {
    probe_->ping();
  }
  ~Life() { std::filesystem::remove(book_path_); }

  void end_at(Moments& random, Tally& tally) {
    std::thread counting([&] { count(); }), large([&] { send_large(); });
    wait_for_moment(random, calls_);
    server_.kill_now();
    counting.join();
    large.join();
    CHECK(server_.end().signal == SIGKILL);
    judge(tally);
  }

 private:
  void count() {
    while (true) try {
        const auto number = static_cast<std::int32_t>(++asked_);
        if (probe_->add(number, 1) != number + 1 || book_.begun() < asked_) wrong_ = "an answer that is wrong";
        ++calls_;
      } catch (const CORBA::SystemException& end) {
        completed_ = end.completed();
        if (!is_death(end)) wrong_ = end.what();
        return;
      }
  }
  void send_large() {
    const std::string text(150'000, 'x');
    while (true) try {
        probe_->note(text);
        if (probe_->echo(text) != text) large_wrong_ = "an echo that is wrong";
        ++calls_;
      } catch (const CORBA::SystemException& end) {
        if (!is_death(end)) large_wrong_ = end.what();
        return;
      }
  }
  // The book is complete now: its writer is dead.
  void judge(Tally& tally) {
    INFO("call " << asked_ << ", begun " << book_.begun());
    CHECK(wrong_ == "");
    CHECK(large_wrong_ == "");
    CHECK(book_.repeated() == 0);
    CHECK(completed_ != CORBA::COMPLETED_YES);
    const bool ran = book_.begun() >= asked_;
    if (completed_ == CORBA::COMPLETED_NO) CHECK_FALSE(ran);
    ++(completed_ == CORBA::COMPLETED_NO ? tally.did_not_run : tally.may_have_run);
    tally.ran += ran ? 1 : 0;
  }

  const std::string book_path_;
  Book book_;
  ProbePeer server_;
  const CORBA::object_reference<Probing::Probe> probe_;
  std::atomic<std::uint64_t> calls_{0};
  std::uint64_t asked_ = 0;                                   // count() alone, until it ended
  CORBA::CompletionStatus completed_ = CORBA::COMPLETED_YES;  // the same
  std::string wrong_, large_wrong_;
};

}  // namespace

TEST_CASE(
    "servers killed at any moment behind channels leave their client whole and it knows which calls did not run") {
  const Quiet quiet;
  const TempDirectory directory;
  Moments random(static_cast<std::uint64_t>(getpid()));
  Tally tally;
  const std::string wait = GENERATE(as<std::string>{}, "park", "spin-then-park");
  TestOrb client({"-ORBClientWait", wait});
  Life(client, directory.path(), 0).end_at(random, tally);  // what a first call makes for good
  const Survivor before;
  for (std::uint64_t number = 1; number <= kills() / 2; ++number) {
    Life(client, directory.path(), number).end_at(random, tally);
    wait_until_within(before);
  }
  tally.say();
}

TEST_CASE("clients killed at any moment behind channels leave their server whole and it serves the others") {
  const Quiet quiet;
  const TempDirectory directory;
  const std::string mode = GENERATE(as<std::string>{}, "manager", "direct", "leader-followers");
  ProbeServer server({"-ORBEndpointListen", "channel:" + directory / "channel", "-ORBDispatchMode", mode});
  TestOrb bystander;
  const auto probe = probe_of(bystander, server.ior());
  const auto run = [&](Moments& random) {
    const int pings = server.servant->pings.load();
    ProbePeer client({"call", server.ior(), "1000000000", "-ORBClientWait", random() % 2 == 0 ? "park" : "spin"});
    const int target = pings + static_cast<int>(random() % 40) + 1;
    for (; server.servant->pings.load() < target; std::this_thread::yield())
      if (!client.lives()) FAIL("the client ended");
    for (std::uint64_t turns = random() % 20'000; turns != 0; --turns) os::spin_pause();
    client.kill_now();
    REQUIRE(client.end().signal == SIGKILL);
    REQUIRE(probe->add(1, 2) == 3);
  };
  const std::string large(150'000, 'x');
  REQUIRE(probe->echo(large) == large);
  Moments random(static_cast<std::uint64_t>(getpid()));
  run(random);  // what a second client makes for good, and what is left of it for a moment
  const Survivor before;
  for (std::uint64_t number = 0; number < kills() / 3; ++number) {
    run(random);
    wait_until_within(before);
  }
}

}  // namespace channel_kill_test
