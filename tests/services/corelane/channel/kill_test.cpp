// Clients and servers that call each other through channels are killed at any moment. No call may hang, and each must
// report correctly whether it ran. The process that survives must hold nothing of the dead one. The tests use channels
// that all calls share, and channels of tasks of their own in the mode `direct`, whose threads read them.
// CORELANE_KILLS sets the number of kills (12). If it is set, the test also prints how the calls ended.
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/modes.h"
#include "tests/support/own_channels.h"
#include "tests/support/peers/book.h"
#include "tests/support/peers/probe_peer.h"
#include "tests/support/probe_servant.h"
#include "tests/support/quiet.h"
#include "tests/support/system/from_environment.h"
#include "tests/support/system/temp_directory.h"

namespace channel_kill_test {

using namespace corelane;
using namespace corelane::testing;

namespace {

using Moments = std::mt19937_64;
using Ended = std::atomic<std::uint64_t>;

std::uint64_t kills() { return from_environment("CORELANE_KILLS", 12); }

// How a server dispatches, and whether its clients' tasks have channels of their own.
struct Way {
  std::string mode;
  bool own_channels = false;
};

const std::vector<Way> ways = [] {
  std::vector<Way> all{{"manager"}, {"direct"}, {"direct", true}};
  if (has_followers) all.push_back({"leader-followers"});
  return all;
}();

// Waits until a random moment: a random number of calls, and a random short time.
void wait_for_moment(Moments& random, const std::atomic<std::uint64_t>& calls) {
  const std::uint64_t target = calls.load() + random() % 40;
  while (calls.load() < target) std::this_thread::yield();
  for (std::uint64_t turns = random() % 20'000; turns != 0; --turns) os::spin_pause();
}

// Counts how the calls ended that a death interrupted.
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

// One server's life, and the outcomes of its clients' calls. Catch's assertions are for one thread only, so the threads
// record what they find.
class Life {
 public:
  Life(TestOrb& client, const std::string& directory, std::uint64_t number, const Way& way)
      : book_path_(directory + "/book" + std::to_string(number)),
        book_(book_path_),
        server_({"serve", book_path_, "-ORBEndpointListen", "channel:" + directory + "/" + std::to_string(number),
                 "-ORBDispatchMode", way.mode, "-ORBDispatchAdmission", "off"}),
        probe_(probe_of(client, server_.reference())) {
    probe_->ping();
    if (way.own_channels) tasks_ = tasks_with_own_channels(probe_);
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
  // Call it when the writer is dead: the book is complete then.
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
  std::vector<rt::Task> tasks_;
  std::atomic<std::uint64_t> calls_{0};
  std::uint64_t asked_ = 0;                                   // only count() uses it, until it has ended
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
  std::uint64_t number = 0;
  for (const Way& way : ways)  // the first life of each kind allocates memory that stays
    Life(client, directory.path(), ++number, way).end_at(random, tally);
  const Survivor before;
  for (std::uint64_t life = 0; life < kills() / 2; ++life) {
    Life(client, directory.path(), ++number, ways[life % std::size(ways)]).end_at(random, tally);
    wait_until_within(before);
  }
  tally.say();
}

TEST_CASE("clients killed at any moment behind channels leave their server whole and it serves the others") {
  const Quiet quiet;
  const TempDirectory directory;
  const Way way = GENERATE(from_range(ways));
  ProbeServer server({"-ORBEndpointListen", "channel:" + directory / "channel", "-ORBDispatchMode", way.mode,
                      "-ORBDispatchAdmission", "off"});
  TestOrb bystander;
  const auto probe = probe_of(bystander, server.ior());
  const auto run = [&](Moments& random) {
    const int pings = server.servant->pings.load();
    std::vector<std::string> words{"call", server.ior(), "1000000000", "-ORBClientWait",
                                   random() % 2 == 0 ? "park" : "spin"};
    if (way.own_channels) words.emplace_back("--task");
    ProbePeer client(words);
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
  run(random);  // the first clients allocate memory that stays
  const Survivor before;
  for (std::uint64_t number = 0; number < kills() / std::size(ways); ++number) {
    run(random);
    wait_until_within(before);
  }
}

}  // namespace channel_kill_test
