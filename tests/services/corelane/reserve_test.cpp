// `corelane reserve` and `corelane cores` against a daemon that gives what a test tells it to. What the real one gives
// is tested with it.
#include "services/corelane/reserve.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "orb/os/child_process.h"
#include "reservationS.h"
#include "tests/support/probe_servant.h"
#include "tests/support/temp_directory.h"

using namespace corelane;
using namespace corelane::tool;
using Catch::Contains;
using corelane::os::ChildProcess;
using corelane::os::program_beside;
using corelane::testing::TempDirectory;
using corelane::testing::TestOrb;
namespace rs = Corelane::Reservation;

namespace {

class FakeDaemon : public virtual CORBA::servant_traits<rs::Server>::base_type {
 public:
  rs::Grant reserve_cores(const rs::Holder& holder, const rs::CoresWanted& wanted, const rs::Terms& terms) override {
    if (wanted.count() > 2) throw rs::Refused(rs::Why::never_fits, "this host has two cores to give", "2 cores");
    if (wanted.count() == 2 && !terms.queues()) throw rs::Refused(rs::Why::no_room, "core 1 is taken", "");
    said = terms.note() + (holder.extent() == rs::Scope::process_tree ? ", a tree" : "");
    return granted(wanted.count() == 2);
  }
  rs::Grant reserve_share(const rs::Holder& holder, const rs::ShareWanted& wanted, const rs::Terms&) override {
    said = std::to_string(wanted.budget()) + "/" + std::to_string(wanted.period()) +
           (holder.extent() == rs::Scope::one_thread ? ", a thread" : "");
    return rs::Grant(4, false, 0, {}, {}, rs::Guarantee::thread_deadline, 0, {});
  }
  rs::Grant look(rs::Id) override { return granted(false); }
  rs::Nanoseconds renew(rs::Id, rs::Nanoseconds) override { throw rs::Unknown(); }
  void release(rs::Id) override {}
  void lend(rs::Id, const rs::Process&) override {}
  void take_back(rs::Id, const rs::Process&) override {}
  rs::Grant work_on(rs::Id) override { throw rs::Unknown(); }
  void leave(rs::Id) override {}
  void charge(rs::Id, const rs::Process&, rs::Nanoseconds) override {}
  rs::AccountList accounts() override {
    const rs::Holder whose(rs::Process(77, 0), rs::Scope::process_tree, 0);
    return {rs::Account(3, false, whose, 1000, "app\x1b", "the demo", {1}, {}, rs::ShareWanted(0, 0),
                        rs::Guarantee::exclusive_cores, 2'000'000'000, 0, {rs::Loan(rs::Process(88, 0), true, 5000, 2)},
                        {})};
  }
  rs::CoreStateList cores() override {
    return {rs::CoreState(0, 0, 0, 0, rs::CoreUse::common, 0, 0, 0),
            rs::CoreState(1, 1, 0, 0, rs::CoreUse::taken, 3, 0, 0),
            rs::CoreState(2, 2, 0, 0, rs::CoreUse::shared, 0, 0.2, 0.75)};
  }
  rs::Status state() override { return rs::Status("affinity", "", {"nobody is kept away"}, 0, 0, 0, 0, 1, 0); }

  std::string said;

 private:
  static rs::Grant granted(bool waits) {
    return rs::Grant(3, waits, 1, {1}, {5}, rs::Guarantee::exclusive_cores, 0, {"interrupt 30 stays"});
  }
};

// Its reference stands where the command looks for it.
class Host {
 public:
  Host() : reference_(orb_->object_to_string(orb_.root()->servant_to_reference(daemon))) {
    orb_.root()->the_POAManager()->activate();
    std::ofstream(directory_ / "reserved.ior") << reference_ << "\n";
  }

  std::string run(std::vector<std::string> words, std::string& exit) const {
    words.insert(words.begin() + 1, {"-ORBRuntimeDirectory", directory_.path()});
    words.insert(words.begin(), program_beside("corelane"));
    ChildProcess program(words, {.joins_errors = true});
    std::string text = program.read_all().value();
    exit = program.wait()->text();
    return text;
  }

  CORBA::servant_reference<FakeDaemon> daemon = CORBA::make_reference<FakeDaemon>();

 private:
  TempDirectory directory_;
  TestOrb orb_;
  std::string reference_;
};

}  // namespace

TEST_CASE("a program that has its reservation ends as it ends") {
  const Host host;
  std::string exit;
  CHECK(host.run({"reserve", "--cores", "1", "--", "sh", "-c", "echo here; exit 7"}, exit) ==
        "corelane reserve: core 1 (5 kept idle beside): nobody else runs there, but for what the kernel binds to each "
        "core\ncorelane reserve: interrupt 30 stays\nhere\n");
  CHECK(exit == "exit status 7");
  CHECK(host.daemon->said == "sh, a tree");
  CHECK(host.run({"reserve", "-q", "--cores", "1", "--", "sh", "-c", "kill -TERM $$"}, exit).empty());
  CHECK(exit == "killed by signal 15 (Terminated)");
  CHECK(host.run({"reserve", "-q", "--share", "2ms/10ms", "--thread", "--", "echo", "-ORBx", "--"}, exit) ==
        "-ORBx --\n");
  CHECK(host.daemon->said == "2000000/10000000, a thread");
}

TEST_CASE("a program waits for its cores where it is to") {
  const Host host;
  std::string exit;
  const std::string text = host.run({"reserve", "--cores", "2", "--wait", "--", "true"}, exit);
  CHECK_THAT(text,
             Catch::StartsWith("corelane reserve: waiting for room, 1 are before this one\ncorelane reserve: core 1 "));
  CHECK(exit == "exit status 0");
}

TEST_CASE("who owns which core is shown") {
  const Host host;
  std::string exit;
  CHECK(host.run({"cores"}, exit) ==
        "core  phys  cache  node  use        owner\n"
        "0     0     0      0     common     \n"
        "1     1     0      0     taken      reservation 3: app? 77\n"
        "2     2     0      0     shared     20.0 % booked, 75.0 % free\n"
        "reservations\n"
        "3     app? 77, user 1000: core 1 for 2.00s; the demo\n"
        "      lent to process 88, which worked there for 5.0us\n"
        "by affinity\n"
        "not promised here: nobody is kept away\n");
  CHECK(exit == "exit status 0");
  const auto json = nlohmann::json::parse(host.run({"cores", "--format", "json"}, exit));
  CHECK(json["cores"][1]["use"] == "taken");
  CHECK(json["reservations"][0]["loans"][0]["service"] == 88);
}

// Error paths.

TEST_CASE("what keeps a program from its reservation is said and is no status of the program's") {
  const Host host;
  struct Case {
    std::vector<std::string> words;
    const char *exit, *said;
  };
  const Case cases[] = {
      {{"reserve", "--cores", "3", "--", "true"},
       "exit status 125",
       "corelane reserve: this host has two cores to give; what would fit: 2 cores\n"},
      {{"reserve", "--cores", "2", "--", "true"}, "exit status 125", "corelane reserve: core 1 is taken\n"},
      {{"reserve", "-q", "--cores", "1", "--", "/nowhere/x"},
       "exit status 127",
       "corelane reserve: /nowhere/x: No such"},
      {{"reserve", "-q", "--cores", "1", "--", "/tmp"},
       "exit status 126",
       "corelane reserve: /tmp: Permission denied\n"},
      {{"reserve", "--", "true"}, "exit status 2", "corelane reserve: how much? --cores COUNT or --share TIME/TIME; "},
      {{"reserve", "--share", "2ms", "--", "true"}, "exit status 2", "corelane reserve: --share: '2ms' is no share; "},
      {{"reserve", "--cores", "1"}, "exit status 2", "corelane reserve: COMMAND is required; "},
      {{"reserve", "--cores", "1", "--out-of", "x", "--", "a"},
       "exit status 2",
       "corelane reserve: --out-of: 'x' is no"},
  };
  for (const Case& c : cases) {
    std::string exit;
    const std::string text = host.run(c.words, exit);
    CAPTURE(text);
    CHECK_THAT(text, Catch::StartsWith(c.said));
    CHECK(exit == c.exit);
  }
}

TEST_CASE("without a reservation daemon it is said how to start one") {
  const TempDirectory empty;
  std::ostringstream out, err;
  CHECK(show_cores({.runtime_directory = empty.path()}, Format::table, out, err) == 1);
  CHECK(err.str().starts_with("corelane cores: no reservation daemon runs on this host (there is no " +
                              (empty / "reserved.ior") + "); start it as root: corelane-reserved"));
  CHECK(reservation_files({.runtime_directory = "/a", .only_there = false}) ==
        std::vector<std::string>{"/a/reserved.ior", "/run/corelane/reserved.ior"});
}

TEST_CASE("a daemon that has ended is told from one that never was") {
  const TempDirectory place;
  std::ofstream(place / "reserved.ior") << "corbaloc::127.0.0.1:1/x\n";
  std::ostringstream out, err;
  CHECK(show_cores({.runtime_directory = place.path()}, Format::table, out, err) == 1);
  CHECK_THAT(err.str(), Catch::StartsWith("corelane cores: the reservation daemon does not answer: "));
}

TEST_CASE("a share is so much every so long") {
  const auto share = parse_share("2ms/10ms");
  REQUIRE(share);
  CHECK(share->budget() == 2'000'000);
  CHECK(share->period() == 10'000'000);
  CHECK(parse_share("1s/1s"));
  for (const char* bad : {"", "/", "2ms", "2ms/", "0ms/1ms", "2ms/1ms", "1ms/2s", "1ms/10ms/3"})
    CHECK_FALSE(parse_share(bad));
}
