// `corelane reserve` and `corelane cores` against a fake daemon that gives what a test tells it to give. The real
// daemon has its own tests.
#include "services/corelane/reservation/reserve.h"

#include <sys/socket.h>

#include <catch2/catch.hpp>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "orb/os/fd.h"
#include "orb/os/process/child_process.h"
#include "orb/os/socket_path.h"
#include "reservationS.h"
#include "tests/support/probe_servant.h"
#include "tests/support/system/temp_directory.h"

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
    hear(terms.note() + (holder.extent() == rs::Scope::process_tree ? ", a tree" : ""));
    return granted(wanted.count() == 2);
  }
  rs::Grant reserve_share(const rs::Holder& holder, const rs::ShareWanted& wanted, const rs::Terms&) override {
    hear(std::to_string(wanted.budget()) + "/" + std::to_string(wanted.period()) +
         (holder.extent() == rs::Scope::one_thread ? ", a thread" : ""));
    return rs::Grant(4, false, 0, {}, {}, rs::Guarantee::thread_deadline, 0, {});
  }
  rs::OwnCores own_cores(const rs::CoresWanted&, const rs::Terms&) override {
    return rs::OwnCores(true, granted(false));
  }
  rs::Grant look(rs::Id) override { return granted(is(full)); }
  rs::Nanoseconds renew(rs::Id, rs::Nanoseconds) override { throw rs::Unknown(); }
  void release(rs::Id id) override { hear("released " + std::to_string(id)); }
  void lend(rs::Id, const rs::Process&) override {}
  void take_back(rs::Id, const rs::Process&) override {}
  rs::Grant work_on(rs::Id) override { throw rs::Unknown(); }
  void leave(rs::Id) override {}
  void charge(rs::Id, const rs::Process&, rs::Nanoseconds) override {}
  rs::AccountList accounts() override {
    const rs::Holder whose(rs::Process(77, 0), rs::Scope::process_tree, 0);
    return {rs::Account(
        3, false, whose, 0, "app\x1b", "the demo", {1}, {}, rs::ShareWanted(0, 0), rs::Guarantee::exclusive_cores,
        2'000'000'000, 0,
        {rs::Loan(rs::Process(88, 0), true, 5000, 2, false), rs::Loan(rs::Process(89, 0), false, 0, 0, false),
         rs::Loan(rs::Process(90, 0), false, 3000, 1, true)},
        {rs::Charge(rs::Process(0, 0), 7000, 1)})};
  }
  rs::CoreStateList cores() override {
    return {rs::CoreState(0, 0, 0, 0, rs::CoreUse::common, 0, 0, 0),
            rs::CoreState(1, 1, 0, 0, rs::CoreUse::taken, 3, 0, 0),
            rs::CoreState(2, 2, 0, 0, rs::CoreUse::shared, 0, 0.2, 0.75),
            rs::CoreState(3, 3, 0, 0, rs::CoreUse::withheld, 0, 0, 0),
            rs::CoreState(4, 4, 0, 0, rs::CoreUse::held, 0, 0, 0)};
  }
  rs::Status state() override { return rs::Status("affinity", "", {"nobody is kept away"}, 0, 0, 0, 0, 1, 0); }

  rs::Grant reserve_with(const rs::Holder&, const rs::CoresWanted& wanted, const rs::ShareWanted& share,
                         const rs::ResourceWantedList& also, const rs::Terms&) override {
    std::string text = std::to_string(wanted.count()) + " cores, share " + std::to_string(share.budget());
    for (const rs::ResourceWanted& one : also)
      text += ", " + one.name() + " " + std::to_string(one.amount()) + (one.best_effort() ? " at best" : "");
    hear(text);
    return granted(false);
  }
  rs::ResourceHeldList held_resources() override {
    if (is(old)) throw CORBA::BAD_OPERATION();
    return {rs::ResourceHeld(3, "memory", 256 << 20, rs::ResourcePromise::guaranteed),
            rs::ResourceHeld(3, "cache", 1, rs::ResourcePromise::exclusive)};
  }
  rs::ResourceStateList resource_states() override {
    if (is(old)) throw CORBA::BAD_OPERATION();
    return {rs::ResourceState("memory", 3ULL << 30, 256 << 20, rs::ResourcePromise::guaranteed, "it is kept"),
            rs::ResourceState("cache", 4, 1, rs::ResourcePromise::exclusive, "nobody else fills them"),
            rs::ResourceState("disk", 0, 0, rs::ResourcePromise::proportional, "no bfq; echo bfq")};
  }

  // old: a version without resources. full: it has no core to give, and never will.
  enum Trait { old, full };
  void become(Trait trait) {
    const std::scoped_lock lock(mutex_);
    traits_.insert(trait);
  }
  std::string said() const {
    const std::scoped_lock lock(mutex_);
    return said_;
  }

 private:
  void hear(const std::string& text) {
    const std::scoped_lock lock(mutex_);
    said_ = text;
  }
  bool is(Trait trait) const {
    const std::scoped_lock lock(mutex_);
    return traits_.contains(trait);
  }
  static rs::Grant granted(bool waits) {
    return rs::Grant(3, waits, 1, {1}, {5}, rs::Guarantee::exclusive_cores, 0, {"interrupt 30 stays"});
  }

  // The test and the ORB's threads are synchronized only by other programs.
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::string said_;
  std::set<Trait> traits_;
};

// The daemon listens where the command looks for it.
class Host {
 public:
  Host() : orb_({"-ORBEndpointListen", "unix:" + directory_ / "reserved.sock"}) {
    const auto poa = orb_.root()->create_well_known("CorelaneReserved", nullptr);
    poa->activate_object_with_id({}, daemon);
    poa->the_POAManager()->activate();
  }

  // Leaves a socket as a killed daemon does.
  static bool leave_socket(const std::string& path) {
    const os::Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const auto address = os::unix_address(path);
    return ::bind(socket.get(), address->generic(), address->length) == 0;
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
};

}  // namespace

TEST_CASE("a program that has its reservation ends as it ends") {
  const Host host;
  std::string exit;
  CHECK(host.run({"reserve", "--cores", "1", "--", "sh", "-c", "echo here; exit 7"}, exit) ==
        "corelane reserve: core 1 (5 kept idle beside): no other process runs there, except what the kernel binds to "
        "each core\ncorelane reserve: interrupt 30 stays\nhere\n");
  CHECK(exit == "exit status 7");
  CHECK(host.daemon->said() == "sh, a tree");
  CHECK(host.run({"reserve", "-q", "--cores", "1", "--", "sh", "-c", "kill -TERM $$"}, exit).empty());
  CHECK(exit == "killed by signal 15 (Terminated)");
  CHECK(host.run({"reserve", "-q", "--share", "2ms/10ms", "--thread", "--", "echo", "-ORBx", "--"}, exit) ==
        "-ORBx --\n");
  CHECK(host.daemon->said() == "2000000/10000000, a thread");
}

TEST_CASE("a program waits for its cores where it is to") {
  const Host host;
  std::string exit;
  const std::string text = host.run({"reserve", "--cores", "2", "--wait", "--", "true"}, exit);
  CHECK_THAT(text,
             Catch::StartsWith(
                 "corelane reserve: waiting for room, behind one other; Ctrl-C gives up\ncorelane reserve: core 1 "));
  CHECK(exit == "exit status 0");
  CHECK(host.run({"reserve", "-q", "--cores", "2", "--wait", "--", "true"}, exit).empty());
  CHECK(host.run({"reserve", "-q", "--cores", "2", "--wait", "3600s", "--", "true"}, exit).empty());
}

TEST_CASE("a program that has waited long enough for its cores gives its place in the queue back") {
  const Host host;
  host.daemon->become(FakeDaemon::full);
  std::string exit;
  const std::string given_up =
      "corelane reserve: no room within 1ms, was behind one other; corelane cores shows which process has which "
      "cores\n";
  CHECK(host.run({"reserve", "--cores", "2", "--wait", "1ms", "--", "true"}, exit) ==
        "corelane reserve: waiting for room, behind one other; Ctrl-C gives up\n" + given_up);
  CHECK(exit == "exit status 125");
  CHECK(host.daemon->said() == "released 3");
  CHECK(host.run({"reserve", "-q", "--wait", "1ms", "--cores", "2", "true"}, exit) == given_up);
}

TEST_CASE("the owner of each core is shown") {
  const Host host;
  std::string exit;
  CHECK(host.run({"cores"}, exit) ==
        "core  phys  cache  node  use        owner\n0     0     0      0     common     \n1     1     0      0     "
        "taken      reservation 3: app? 77\n2     2     0      0     shared     20.0 % booked, 75.0 % free\n3     3    "
        " 0      0     withheld   all processes: it is never given away (reserved.keep)\n4     4     0      0     held "
        "      none: a process that had it takes long to end, and the kernel gives it to no other until then; or the "
        "core is switched off\nreservations\n3     app? 77, user root: core 1 for 2.00s, memory 256 MiB, cache 1 way; "
        "the demo\n      lent to process 88: works there now, so far 2 times, 5.0us of CPU time\n      lent to process "
        "89: has not worked there yet\n      was lent to process 90: worked there once, 3.0us of CPU time\n      "
        "worked for others: once, 7.0us of CPU time\nmemory: 256 MiB of 3 GiB promised, guaranteed\ncache: 1 way of 4 "
        "ways promised, exclusive\ndisk: none can be reserved here: no bfq; echo bfq\nby affinity\nthis host limits "
        "what is promised in 1 way; corelane cores --long names each\n");
  CHECK(exit == "exit status 0");
  CHECK_THAT(host.run({"cores", "--long"}, exit), Catch::EndsWith("not promised here: nobody is kept away\n"));
  const auto json = nlohmann::json::parse(host.run({"cores", "--format", "json"}, exit));
  CHECK(json["cores"][1]["use"] == "taken");
  CHECK(json["reservations"][0]["loans"][0]["service"] == 88);
  CHECK(json["cores"][4]["use"] == "held");
  CHECK(json["reservations"][0]["resources"][0]["amount"] == 256 << 20);
  CHECK(json["resources"][2]["promise"] == "none");
}

TEST_CASE("a daemon that knows of cores alone is shown without the rest") {
  const Host host;
  host.daemon->become(FakeDaemon::old);
  std::string exit;
  const std::string text = host.run({"cores"}, exit);
  CHECK_THAT(text, Contains("core 1 for 2.00s; the demo\n") && !Contains("memory"));
  CHECK(exit == "exit status 0");
}

TEST_CASE("memory, cache and disk are asked for beside cores or a share") {
  const Host host;
  std::string exit;
  host.run({"reserve", "--cores", "1", "--memory", "256MiB", "--cache", "2", "--disk-weight", "500", "--", "true"},
           exit);
  CHECK(host.daemon->said() == "1 cores, share 0, memory 268435456, cache 2, disk 500");
  host.run({"reserve", "--share", "1ms/10ms", "--memory", "1GB", "--best-effort", "--", "true"}, exit);
  CHECK(host.daemon->said() == "0 cores, share 1000000, memory 1000000000 at best");
  const std::string json =
      host.run({"reserve", "--format", "json", "--cores", "1", "--memory", "1KiB", "--", "true"}, exit);
  CHECK(nlohmann::json::parse(json)["memory"] == 1024);
}

TEST_CASE("an amount of memory is a whole number with a unit") {
  CHECK(parse_bytes("1B").value() == 1);
  CHECK(parse_bytes("2KiB").value() == 2048);
  CHECK(parse_bytes("16777215TiB").value() == 16777215ULL << 40);
  for (const char* bad : {"", "MiB", "0", "-1", "1.5GiB", "16777216TiB", "5 MiB", "5m", "256"})
    CHECK_FALSE(parse_bytes(bad));
  CHECK(parse_bytes("256").error() == "'256' says no unit; write 256MiB, or 256B for bytes");
}

// Errors.

TEST_CASE("a failed reservation is reported, with an exit status that is not the program's") {
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
      {{"reserve", "-q", "--cores", "1", "--", "./nothere"},
       "exit status 127",
       "corelane reserve: ./nothere: No such file or directory\n"},
      {{"reserve", "-q", "--cores", "1", "--", "not-here"},
       "exit status 127",
       "corelane reserve: not-here: No such file or directory; write ./ before a program of this folder\n"},
      {{"reserve", "-q", "--cores", "1", "--", "/tmp"},
       "exit status 126",
       "corelane reserve: /tmp: Permission denied\n"},
      {{"reserve", "--", "true"}, "exit status 2", "corelane reserve: how much? --cores COUNT or --share TIME/TIME; "},
      {{"reserve", "--share", "2ms", "--", "true"}, "exit status 2", "corelane reserve: --share: '2ms' is no share; "},
      {{"reserve", "--share", "2ms/10ms", "--near", "cache", "--", "true"},
       "exit status 2",
       "corelane reserve: --share and --near exclude each other: give one of them; "},
      {{"reserve", "--siblings", "mine", "--share", "2ms/10ms", "--", "true"},
       "exit status 2",
       "corelane reserve: --share and --siblings exclude each other: give one of them; "},
      {{"reserve", "--out-of", "1", "--share", "2ms/10ms", "--", "true"},
       "exit status 2",
       "corelane reserve: --share and --out-of exclude each other: give one of them; "},
      {{"reserve", "--cores", "1", "--wait", "long", "--", "true"},
       "exit status 2",
       "corelane reserve: --wait: 'long' is no time to wait; "},
      {{"reserve", "--cores", "1", "--memory", "much", "--", "true"},
       "exit status 2",
       "corelane reserve: --memory: 'much' is no amount of memory; "},
      {{"reserve", "--cores", "1", "--memory", "256", "--", "true"},
       "exit status 2",
       "corelane reserve: --memory: '256' says no unit; write 256MiB, "},
      {{"reserve", "--cores", "1", "--cache", "0", "--", "true"},
       "exit status 2",
       "corelane reserve: --cache: '0' is no number of ways; "},
      {{"reserve", "--memory", "1MiB", "--", "true"}, "exit status 2", "corelane reserve: how much? --cores COUNT or "},
      {{"reserve", "--cores", "1"}, "exit status 2", "corelane reserve: name the program after --; "},
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
  const TempDirectory place;
  const std::string socket = place / "reserved.sock";
  if (GENERATE(false, true)) (void)Host::leave_socket(socket);
  std::ostringstream out, err;
  CHECK(show_cores({.sockets = {socket, "/nowhere"}, .start_options = " -ORBx y"}, {}, out, err) == 1);
  CHECK_THAT(err.str(), Catch::StartsWith(
                            "corelane cores: no reservation daemon runs on this host (no process listens at " + socket +
                            ", nor at /nowhere); start it as root: corelane-reserved -ORBx y &. "
                            "It moves all other programs of this host "));
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
