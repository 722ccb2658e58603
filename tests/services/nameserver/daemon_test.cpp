// corelane-nameserver as a process: where it answers, how it ends, what it keeps.
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include "orb/core/object.h"
#include "orb/os/clock.h"
#include "orb/os/fd.h"
#include "orb/os/process/child_process.h"
#include "orb/os/socket_path.h"
#include "services/nameserver/start.h"
#include "tests/services/nameserver/served.h"
#include "tests/support/system/jumping_clock.h"
#include "tests/support/system/temp_directory.h"

using Catch::Contains;
using corelane::os::ChildProcess;
using corelane::os::program_beside;
using namespace corelane::testing;

namespace {

// A daemon with all its files in a directory of the test.
class Daemon {
 public:
  explicit Daemon(std::string store = "memory") : store_(std::move(store)) { start(); }

  void start() {
    process_.emplace(command({}));
    tcp = process_->read_line().value();
    REQUIRE(process_->read_line() == "unix:" + socket());
  }
  std::vector<std::string> command(const std::vector<std::string>& more) const {
    std::vector<std::string> words{program_beside("corelane-nameserver"),
                                   "-ORBEndpointListen",
                                   "127.0.0.1:0",
                                   "-ORBRuntimeDirectory",
                                   place.path(),
                                   "-ORBNamingStore",
                                   store_};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  std::string socket() const { return place / "nameserver.sock"; }
  std::string end(int signal) {
    ::kill(process_->pid(), signal);
    return process_->wait()->text();
  }

  const TempDirectory place;
  std::string tcp;

 private:
  const std::string store_;
  std::optional<ChildProcess> process_;
};

NamingDirectory root_of(const QuietOrb& client) {
  return IDL::traits<Corelane::Naming::Directory>::narrow(client->resolve_initial_references("NameService"));
}

// Returns the output and the exit status of a program that ends by itself.
std::string answer_of(const std::vector<std::string>& command) {
  ChildProcess program(command, {.joins_errors = true});
  std::string text = program.read_all().value();
  return program.wait()->text() + ": " + text;
}

}  // namespace

TEST_CASE("a daemon answers where it says, and ends at SIGTERM leaving nothing behind") {
  Daemon daemon;
  {
    const QuietOrb client({"-ORBNamingSocket", daemon.socket()});
    root_of(client)->bind(cos_name("x"), root_of(client));
    CHECK_THAT(daemon.tcp, Catch::StartsWith("corbaloc:iiop:1.2@127.0.0.1:"));
    const auto by_tcp = IDL::traits<CosNaming::NamingContext>::narrow(client->string_to_object(daemon.tcp));
    CHECK(by_tcp->resolve(cos_name("x")));
  }
  CHECK(daemon.end(SIGTERM) == "exit status 0");
  CHECK(daemon.place.entries() == 0);
}

TEST_CASE("listeners of a process that was killed are forgotten though no name changes") {
  Daemon daemon;
  const pid_t child = ::fork();  // before threads exist
  REQUIRE(child >= 0);
  if (child == 0) {
    const QuietOrb client({"-ORBNamingSocket", daemon.socket()});
    const auto server = root_of(client)->nameserver();
    for (int i = 0; i < 3; ++i)
      server->watch(
          "**", IDL::traits<Corelane::Naming::Listener>::ref_type(corelane::core::make_stub<Corelane::Naming::Listener>(
                    client->string_to_object("corbaloc::127.0.0.1:1/x")->_reference())));
    ::kill(::getpid(), SIGKILL);
  }
  REQUIRE(::waitpid(child, nullptr, 0) == child);
  const QuietOrb client({"-ORBNamingSocket", daemon.socket()});
  const auto server = root_of(client)->nameserver();
  while (server->state().watches() > 0) std::this_thread::yield();  // hangs if the listeners are not forgotten
  CHECK(server->state().watches() == 0);
}

TEST_CASE("a daemon outlives the reader of its output") {
  const TempDirectory place;
  int ends[2];
  REQUIRE(pipe(ends) == 0);  // the daemon inherits both ends
  corelane::os::Fd read(ends[0]), write(ends[1]);
  const std::string to = std::to_string(ends[1]), from = std::to_string(ends[0]);
  ChildProcess daemon({"/bin/sh", "-c",
                       "exec " + program_beside("corelane-nameserver") +
                           " -ORBEndpointListen 127.0.0.1:0 -ORBNamingStore memory -ORBRuntimeDirectory " +
                           place.path() + " 1>&" + to + " 2>&" + to + " " + to + ">&- " + from + ">&-"});
  read.reset();
  write.reset();
  const std::string socket = place / "nameserver.sock";
  const QuietOrb client({"-ORBNamingSocket", socket});
  const auto is_there = [&] { return raised_by([&] { root_of(client)->rebind(cos_name("x"), nullptr); }) == ""; };
  std::optional<corelane::os::ExitStatus> end;
  while (!is_there() && !end) end = daemon.wait(corelane::os::now());  // bound: its start, or its end
  REQUIRE_FALSE(end);
  ::kill(daemon.pid(), SIGTERM);
  CHECK(daemon.wait()->text() == "exit status 0");
}

TEST_CASE("a reference to a context is good after the daemon was started again") {
  const TempDirectory place;
  Daemon daemon("sqlite:" + (place / "names.db"));
  const QuietOrb client({"-ORBNamingSocket", daemon.socket()});
  const auto context = root_of(client)->bind_new_context(cos_name("plant"));
  const auto loose = root_of(client)->new_context();
  std::uint32_t a_minute = 60'000;
  const auto lease = root_of(client)->nameserver()->lease_for(a_minute);
  root_of(client)->bind_leased(cos_name("plant/mine"), nullptr, lease, false);
  {
    ChildProcess passing({"cat"});
    const auto& here = corelane::os::this_host();
    const auto process = corelane::os::identity_of(passing.pid()).value();
    const auto theirs = root_of(client)->nameserver()->lease_of(
        Corelane::Naming::Process(here.boot_id, here.pid_namespace, process.pid, process.start_ticks));
    root_of(client)->bind_leased(cos_name("plant/theirs"), nullptr, theirs, false);
    CHECK(daemon.end(SIGKILL) == "killed by signal 9 (Killed)");
  }
  daemon.start();
  context->bind(cos_name("x"), nullptr);
  loose->bind(cos_name("y"), nullptr);
  CHECK(raised_by([&] { root_of(client)->resolve(cos_name("plant/x")); }) == "");
  // The owner of `theirs` has ended meanwhile; the owner of `mine` still runs.
  CHECK(raised_by([&] { root_of(client)->resolve(cos_name("plant/theirs")); }) == "NotFound missing_node theirs");
  CHECK(raised_by([&] { root_of(client)->resolve(cos_name("plant/mine")); }) == "");
  CHECK(raised_by([&] { root_of(client)->nameserver()->renew(lease); }) == "");
}

TEST_CASE("names go with their leases and processes and not by the date however it jumps") {
  std::optional<JumpingClock> clock(std::in_place);
  REQUIRE(clock->works());
  Daemon daemon;
  clock.reset();
  const QuietOrb client({"-ORBNamingSocket", daemon.socket()});
  const auto root = root_of(client);
  const auto server = root->nameserver();
  std::uint32_t an_hour = 3'600'000;
  const auto lasting = server->lease_for(an_hour);
  root->bind_leased(cos_name("lasting"), nullptr, lasting, false);
  ChildProcess other({"cat"});
  const auto& here = corelane::os::this_host();
  const auto process = corelane::os::identity_of(other.pid()).value();
  const auto theirs =
      server->lease_of(Corelane::Naming::Process(here.boot_id, here.pid_namespace, process.pid, process.start_ticks));
  root->bind_leased(cos_name("theirs"), nullptr, theirs, false);
  const auto is_bound = [&](const char* name) { return raised_by([&] { root->resolve(cos_name(name)); }).empty(); };
  for (int round = 0; round < 3; ++round) {
    // Bound: a machine that binds once within the shortest lease.
    const auto is_in_time = [&] {
      std::uint32_t shortest = 0;
      const auto passing = server->lease_for(shortest);
      return raised_by([&] { root->bind_leased(cos_name("passing"), nullptr, passing, false); }) != "UnknownLease";
    };
    while (!is_in_time()) continue;
    while (is_bound("passing")) std::this_thread::yield();  // then the nameserver has checked all leases
    CHECK(is_bound("lasting"));
    CHECK(is_bound("theirs"));
    CHECK(raised_by([&] { server->renew(lasting); }) == "");
  }
  ::kill(other.pid(), SIGKILL);
  while (is_bound("theirs")) std::this_thread::yield();
  CHECK(is_bound("lasting"));
}

TEST_CASE("kill -9 amid 10000 binds loses none that was acknowledged") {
  constexpr int binders = 8, names_each = 1250;
  const int acknowledged_before_end = GENERATE(500, 5000);
  const TempDirectory place;
  Daemon daemon("sqlite:" + (place / "names.db"));
  const QuietOrb client({"-ORBNamingSocket", daemon.socket()});
  const auto root = root_of(client);
  std::atomic<int> acknowledged{0};
  std::vector<std::string> known[binders];
  std::vector<std::thread> threads;
  for (int b = 0; b < binders; ++b)
    threads.emplace_back([&, b] {
      for (int i = 0; i < names_each; ++i) {
        const std::string name = std::to_string(b) + "-" + std::to_string(i);
        if (!raised_by([&] { root->bind(cos_name(name), nullptr); }).empty()) return;
        known[b].push_back(name);
        ++acknowledged;
        acknowledged.notify_one();
      }
    });
  for (int now = acknowledged; now < acknowledged_before_end; now = acknowledged) acknowledged.wait(now);
  CHECK(daemon.end(SIGKILL) == "killed by signal 9 (Killed)");
  for (std::thread& thread : threads) thread.join();
  daemon.start();
  CAPTURE(acknowledged_before_end, acknowledged);
  std::size_t lost = 0;
  for (const auto& names : known)
    for (const std::string& name : names) lost += raised_by([&] { root->resolve(cos_name(name)); }).empty() ? 0u : 1u;
  CHECK(lost == 0);
}

// Errors.

TEST_CASE("a daemon that cannot serve says why and what to do") {
  Daemon daemon;
  struct Row {
    std::vector<std::string> options;
    const char *status, *said;
  };
  const std::string port = daemon.tcp.substr(18, daemon.tcp.find('/') - 18);
  const Row rows[] = {
      {{}, "exit status 1", "corelane-nameserver: a nameserver runs on this host already (process "},
      {{"-ORBNamingSocket", "off", "-ORBEndpointListen", port},
       "exit status 1",
       "shows which process has it, and -ORBEndpointListen 127.0.0.1:0 takes a free port"},
      {{"-ORBNamingSocket", "off", "-ORBNamingStore", "foo:x"}, "exit status 1", "unknown store 'foo:x'"},
      {{"-ORBNamingSocket", "off", "-ORBNamingStore", "sqlite:/nowhere/x"}, "exit status 1", "/nowhere"},
      {{"-ORBNamingSocket", "relative"}, "exit status 2", "a path with a slash"},
      {{"-ORBNamingStor", "memory"}, "exit status 2", "-ORBNamingStore"},
      {{"--bogus"}, "exit status 2", "--help"},
      {{"--ior-fil", "x"}, "exit status 2", "there is no option --ior-fil; is --ior-file meant?; see"},
      {{"--help"}, "exit status 0", "docs/naming.md"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.options);
    CHECK_THAT(answer_of(daemon.command(row.options)), Catch::StartsWith(row.status) && Contains(row.said));
  }
}

TEST_CASE("the reference is written to a file if one is named") {
  Daemon daemon;
  const std::string file = daemon.place / "root.ior", victim = daemon.place / "victim";
  REQUIRE(symlink(victim.c_str(), (file + ".new").c_str()) == 0);
  ChildProcess other(daemon.command({"-ORBNamingSocket", "off", "--ior-file", file}));
  REQUIRE(other.read_line());
  const QuietOrb client;
  const auto root = IDL::traits<CosNaming::NamingContext>::narrow(client->string_to_object("file://" + file));
  REQUIRE(root);
  CHECK(raised_by([&] { root->resolve(cos_name("x")); }) == "NotFound missing_node x");
  CHECK(access(victim.c_str(), F_OK) != 0);
}

TEST_CASE("a daemon that waits for its etcd ends at SIGTERM at once") {
  ChildProcess waits({program_beside("corelane-nameserver"), "-ORBEndpointListen", "127.0.0.1:0", "-ORBNamingSocket",
                      "off", "-ORBNamingStore", "etcd:http://127.0.0.1:1", "-ORBNamingEtcdCopy", "off"},
                     {.joins_errors = true});
  std::string line;
  while (line.find("waiting for etcd") == std::string::npos) line = waits.read_line().value();
  ::kill(waits.pid(), SIGTERM);
  CHECK(waits.wait()->text() == "killed by signal 15 (Terminated)");
}

TEST_CASE("a stranger that listens in the nameserver's place is told from a nameserver that clients would trust") {
  if (geteuid() != 0) {
    WARN("SKIPPED: only root can listen as somebody else");
    return;
  }
  const TempDirectory directory;
  std::filesystem::permissions(directory.path(), std::filesystem::perms::all);
  const auto fault_with = [&](uid_t user) {
    const std::string path = directory / std::to_string(user);
    const corelane::os::Fd listener(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const auto address = corelane::os::unix_address(path);
    REQUIRE(seteuid(user) == 0);
    const bool listens =
        bind(listener.get(), address->generic(), address->length) == 0 && listen(listener.get(), 1) == 0;
    REQUIRE(seteuid(0) == 0);
    REQUIRE(listens);
    return corelane::nameserver::fault_of_place(path);
  };
  CHECK_THAT(fault_with(0), Catch::StartsWith("a nameserver runs on this host already (process "));
  CHECK_THAT(fault_with(60001), Contains(" of user 60001 listens at ") && Contains("-ORBNamingSocket PATH"));
}
