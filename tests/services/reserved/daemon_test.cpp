// corelane-reserved as a program, on cpusets of this kernel, in a PID namespace of the test.
#include "services/reserved/daemon/daemon.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>

#include "orb/core/config/settings_of.h"
#include "orb/os/clock.h"
#include "orb/os/machine/core_list.h"
#include "reservationC.h"
#include "tests/services/reserved/daemon_inside.h"
#include "tests/support/system/jumping_clock.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane;
using namespace corelane::testing;
namespace idl = Corelane::Reservation;

TEST_CASE("the daemon gives a process a core and takes it back when the process is killed") {
  check_inside([](const LiveCpusets& at) {
    Faults faults;
    Sleeper one, two;
    const auto started = std::chrono::duration_cast<std::chrono::microseconds>(os::now().time_since_epoch()).count();
    RunningDaemon daemon = daemon_of(at);
    {
      ReservationClient client(daemon);
      const idl::Grant grant = client.reserve(one.pid(), 1);
      faults.unless(grant.reservation() >= static_cast<std::uint64_t>(started),
                    "an id that a run before may have given");
      faults.unless(grant.cores() == idl::CoreList{at.cores[1].value} && !grant.waiting(),
                    "not granted the second core");
      faults.differ(at.cores_of(one), at.second(), "where the holder runs");
      faults.differ(at.cores_of(two), at.first(), "where others run");
      const auto accounts = client.server->accounts();
      faults.unless(
          accounts.size() == 1 && accounts[0].whose().who().pid() == one.pid() && accounts[0].note() == "test",
          "the account");
      faults.unless(client.server->cores()[1].use() == idl::CoreUse::taken, "the core is not taken");
      faults.unless(
          client.refusal_of([&] { client.reserve(two.pid(), 1); }).find("no core is free") != std::string::npos,
          "given twice");
      one.kill_now();
      faults.unless(client.accounts_become(0), "still held by a dead process");
      faults.differ(at.cores_of(two), at.both(), "where others run after the end");
    }
    faults.differ(daemon.end(), std::string("exit status 0"), "the end");
    faults.differ(at.set_of(two), std::string("root"), "where others are after the daemon's end");
    faults.unless(at.children().empty(), "groups are left");
    return faults.text();
  });
}

TEST_CASE("a program under corelane reserve runs on the reserved core, and its end gives the core back") {
  const std::string tool = os::program_beside("corelane");
  check_inside([&](const LiveCpusets& at) {
    Faults faults;
    Sleeper other;
    RunningDaemon daemon = daemon_of(at);
    ReservationClient client(daemon);
    os::ChildProcess program(
        {tool, "-ORBRuntimeDirectory", daemon.directory(), "reserve", "--quiet", "--cores", "1", "--", "cat"});
    program.write_line("I run");
    faults.differ(program.read_line().value_or("nothing"), std::string("I run"), "what the program says");
    const auto accounts = client.server->accounts();
    faults.unless(
        accounts.size() == 1 && accounts[0].whose().who().pid() == program.pid() && accounts[0].program() == "cat",
        "the account");
    const auto cores = reserved::HostProcesses().affinity(program.pid()).value_or(std::vector<CoreId>{});
    faults.differ(os::core_list_text(cores), at.second(), "where the program runs");
    faults.differ(at.cores_of(other), at.first(), "where others run");
    kill(program.pid(), SIGKILL);
    faults.unless(client.accounts_become(0), "still held by a dead program");
    faults.differ(at.cores_of(other), at.both(), "where others run after the end");
    return faults.text();
  });
}

TEST_CASE("changes that a killed daemon left behind are undone by the next one") {
  check_inside([](const LiveCpusets& at) {
    Faults faults;
    Sleeper one;
    RunningDaemon daemon = daemon_of(at);
    {
      ReservationClient client(daemon);
      client.reserve(one.pid(), 1);
    }
    daemon.kill_now();
    faults.differ(at.cores_of(one), at.second(), "where the holder runs without a daemon");
    daemon.start();
    faults.differ(at.set_of(one), std::string("corelane-default"), "where the holder is then");
    faults.differ(daemon.end(), std::string("exit status 0"), "the end");
    faults.unless(at.children().empty() && at.set_of(one) == "root", "the host is not as it was found");
    return faults.text();
  });
}

TEST_CASE("a daemon whose start ends in the middle leaves the host as it found it") {
  check_inside([](const LiveCpusets& at) {
    Faults faults;
    Sleeper one;
    const TempDirectory place;
    // The daemon gets no thread, because no machine has room for a stack of 64 TB. At that time the default set already
    // exists.
    os::ChildProcess daemon(
        {"sh", "-c", "ulimit -s 68719476736 && exec \"$@\"", "sh", daemon_program(), "-ORBRuntimeDirectory",
         place.path(), "-ORBReservedRoot", "/" + at.root, "-ORBReservedBackend", "cgroup-v1", "-ORBReservedInterrupts",
         "off", "-ORBReservedKeep", at.first()},
        {.joins_errors = true});
    const std::string said = daemon.read_all().value_or("");
    if (said.find("NO_RESOURCES") == std::string::npos) return cannot + "no program runs with such a stack: " + said;
    faults.differ(daemon.wait()->text(), std::string("exit status 1"), "the end");
    faults.unless(at.children().empty(), "groups are left");
    faults.differ(at.set_of(one), std::string("root"), "where others are");
    faults.differ(at.cores_of(one), at.both(), "where others run");
    return faults.text();
  });
}

// The daemon restores the host, whichever signal ends it, at any time.

namespace {

// Compares the host with its state before the daemon. `other`: a process that the daemon moved.
void compare_with_found(Faults& faults, const LiveCpusets& at, const Sleeper& other, const std::string& status) {
  faults.differ(status, std::string("exit status 0"), "the end");
  faults.unless(at.children().empty(), "groups are left");
  faults.differ(at.set_of(other), std::string("root"), "where others are");
  faults.differ(at.cores_of(other), at.both(), "where others run");
}

}  // namespace

TEST_CASE("a daemon whose terminal is closed puts the host back") {
  check_inside([](const LiveCpusets& at) {
    Faults faults;
    Sleeper one, other;
    RunningDaemon daemon = daemon_of(at);
    ReservationClient(daemon).reserve(one.pid(), 1);
    compare_with_found(faults, at, other, daemon.end(SIGHUP));
    return faults.text();
  });
}

TEST_CASE("a daemon that is ended again and again while it ends puts the host back") {
  check_inside([](const LiveCpusets& at) {
    Faults faults;
    Sleeper one, other;
    RunningDaemon daemon = daemon_of(at);
    ReservationClient(daemon).reserve(one.pid(), 1);
    compare_with_found(faults, at, other, daemon.end_impatiently());
    return faults.text();
  });
}

TEST_CASE("a daemon that is ended during its start puts the host back") {
  check_inside([](const LiveCpusets& at) {
    Faults faults;
    Sleeper other;
    const TempDirectory place;
    os::ChildProcess daemon({daemon_program(), "-ORBRuntimeDirectory", place.path(), "-ORBReservedRoot", "/" + at.root,
                             "-ORBReservedBackend", "cgroup-v1", "-ORBReservedInterrupts", "off", "-ORBReservedKeep",
                             at.first(), "-ORBLogLevel", "off"});
    const Time patience = os::now() + std::chrono::minutes{1};
    while (at.children().empty())  // until the daemon has begun to change the host
      if (os::now() > patience) return std::string("no default set is made");
    kill(daemon.pid(), SIGTERM);
    compare_with_found(faults, at, other, daemon.wait()->text());
    return faults.text();
  });
}

TEST_CASE(
    "a waiting request gets the core that another process gives back, and one reservation belongs to one process") {
  check_inside([](const LiveCpusets& at) {
    Faults faults;
    Sleeper one, two;
    RunningDaemon daemon = daemon_of(at);
    ReservationClient client(daemon);
    const auto first = client.reserve(one.pid(), 1);
    const auto waiting = client.reserve(two.pid(), 1, true);
    faults.unless(waiting.waiting() && waiting.cores().empty(), "granted at once");
    faults.unless(!client.refusal_of([&] { client.reserve(two.pid(), 1); }).empty(), "two for one process");
    client.server->release(first.reservation());
    faults.unless(!client.server->look(waiting.reservation()).waiting(), "still waiting");
    faults.differ(at.cores_of(two), at.second(), "where it runs");
    bool unknown = false;
    try {
      client.server->look(first.reservation());
    } catch (const idl::Unknown&) {
      unknown = true;
    }
    faults.unless(unknown, "a reservation that was given back is known");
    return faults.text();
  });
}

TEST_CASE("a service works on cores that a client lends to it, and the account tells") {
  check_inside([](const LiveCpusets& at) {
    Faults faults;
    Sleeper one;
    RunningDaemon daemon = daemon_of(at);
    ReservationClient service(daemon);
    const auto lent = service.reserve(one.pid(), 1).reservation();
    const auto refusal = service.refusal_of([&] { service.server->work_on(lent); });
    faults.unless(refusal.find("is not lent to process") != std::string::npos, "came in uninvited: " + refusal);
    service.server->lend(lent, idl::Process(getpid(), 0));
    service.server->work_on(lent);
    faults.differ(os::core_list_text(reserved::HostProcesses().affinity(0).value()), at.second(), "where it works");
    service.server->leave(lent);
    const auto loan = service.server->accounts().at(0).loans().at(0);
    faults.unless(loan.used() > 0 && loan.times() == 1 && !loan.in_use(), "the loan in the account");
    service.server->charge(lent, idl::Process(getpid(), 0), 5000);
    faults.differ(service.server->accounts().at(0).charges().at(0).used(), std::uint64_t{5000}, "the charge");
    return faults.text();
  });
}

// Errors.

TEST_CASE("a user without the right is refused and told how to get it") {
  check_inside([](const LiveCpusets& at) {
    Faults faults;
    RunningDaemon daemon = daemon_of(at);
    const std::string reason = text_of_child([&] {
      if (setgid(65534) != 0 || setuid(65534) != 0) return std::string("the user cannot be changed");
      ReservationClient client(daemon);
      return client.refusal_of([&] { client.reserve(0, 1); });
    });
    faults.unless(reason.find("may not reserve cores here") != std::string::npos &&
                      reason.find("reserved.users in /etc/corelane.toml") != std::string::npos,
                  "told: " + reason);
    return faults.text();
  });
}

TEST_CASE("a runtime directory that cannot be used is said with the setting that names another") {
  for (const char* const place : {"/proc/none", "/proc/version"}) {
    const std::vector<std::string> words{"-ORBRuntimeDirectory", place, "-ORBLogLevel", "off"};
    const auto done = reserved::run_daemon(words, core::settings_of(words).value());
    REQUIRE_FALSE(done);
    CHECK_THAT(done.error(), Catch::Contains(place) && Catch::Contains("-ORBRuntimeDirectory DIR"));
  }
}

TEST_CASE("reservations end with their leases and processes and not by the date however it jumps") {
  const std::string library = JumpingClock::library_path();
  check_inside([&](const LiveCpusets& at) {
    Faults faults;
    Sleeper one, waiting;
    std::optional<JumpingClock> clock(std::in_place, library);
    faults.unless(clock->works(), "the date does not jump");
    RunningDaemon daemon = daemon_of(at);
    clock.reset();
    ReservationClient client(daemon);
    const auto leased = [&](std::chrono::nanoseconds lease) {
      idl::CoresWanted wanted;
      wanted.count(1);
      const idl::Terms terms(static_cast<std::uint64_t>(lease.count()), false, "test");
      return client.server->reserve_cores(client.holder_of(one.pid()), wanted, terms).reservation();
    };
    for (int round = 0; round < 3; ++round) {
      leased(std::chrono::milliseconds{1});
      faults.unless(client.accounts_become(0), "a lease that is over is kept");
    }
    const auto lasting = leased(std::chrono::hours{1});
    client.reserve(waiting.pid(), 1, true);
    faults.unless(client.server->renew(lasting, 3'600'000'000'000) > 0, "a lease is not renewed");
    waiting.kill_now();
    faults.unless(client.accounts_become(1), "a process that ended is waited for, or a lease of an hour is over");
    faults.unless(client.server->look(lasting).lease_left() > 0, "a lease of an hour is over");
    one.kill_now();
    faults.unless(client.accounts_become(0), "a process that ended keeps its cores");
    return faults.text();
  });
}

TEST_CASE("a process that is not the one that connected is refused") {
  check_inside([](const LiveCpusets& at) {
    RunningDaemon daemon = daemon_of(at);
    return text_of_child([&] {
      ReservationClient client(daemon);
      client.server->release(client.reserve(0, 1).reservation());
      if (setgid(65534) != 0 || setuid(65534) != 0) return std::string("the user cannot be changed");
      const std::string told = client.refusal_of([&] { client.reserve(0, 1); });
      return told.find("is not the one that connected") == std::string::npos ? "told: " + told : std::string();
    });
  });
}

TEST_CASE("an impossible request is refused with the reason and a request that would fit") {
  check_inside([](const LiveCpusets& at) {
    Faults faults;
    Sleeper one;
    RunningDaemon daemon = daemon_of(at);
    ReservationClient client(daemon);
    try {
      client.reserve(one.pid(), 2);
      faults.unless(false, "two of one core");
    } catch (const idl::Refused& refused) {
      faults.unless(refused.cause() == idl::Why::never_fits && refused.fits() == "1 core",
                    "the refusal: " + refused.reason());
    }
    const auto thread = client.refusal_of([&] {
      client.server->reserve_share(idl::Holder(idl::Process(one.pid(), 0), idl::Scope::one_thread, 0),
                                   idl::ShareWanted(1'000'000, 10'000'000), idl::Terms(0, false, ""));
    });
    faults.unless(thread.find("SCHED_DEADLINE") != std::string::npos, "told: " + thread);
    faults.unless(client.server->accounts().empty(), "a failed one is in the accounts");
    faults.differ(at.cores_of(one), at.both(), "where it runs");
    const auto nobody = client.refusal_of([&] { client.reserve(99999, 1); });
    faults.unless(nobody.find("no process 99999") != std::string::npos, "told: " + nobody);
    return faults.text();
  });
}

TEST_CASE("settings of the daemon that cannot be meant are refused before anything is changed") {
  const TempDirectory place;
  struct Row {
    std::vector<std::string> options;
    const char *status, *said;
  };
  const Row rows[] = {
      {{"-ORBReservedKeep", "0,1023"}, "exit status 2", "reserved.keep: this machine has no core 1023, but 0"},
      {{"-ORBReservedProcesses", "4194303"}, "exit status 2", "reserved.processes: there is no process 4194303"},
      {{"-ORBReservedKep", "0"}, "exit status 2", "-ORBReservedKeep"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.options);
    std::vector<std::string> words{daemon_program(), "-ORBRuntimeDirectory", place.path()};
    words.insert(words.end(), row.options.begin(), row.options.end());
    os::ChildProcess daemon(words, {.joins_errors = true});
    const std::string text = daemon.read_all().value_or("");
    CHECK(daemon.wait()->text() == row.status);
    CHECK_THAT(text, Catch::StartsWith("corelane-reserved: ") && Catch::Contains(row.said));
    CHECK(std::filesystem::is_empty(place.path()));
  }
}

TEST_CASE("a daemon that has no core to give says so") {
  const TempDirectory place;
  std::string present;
  std::getline(std::ifstream("/sys/devices/system/cpu/present"), present);
  Sleeper moved;
  os::ChildProcess daemon({daemon_program(), "-ORBRuntimeDirectory", place.path(), "-ORBReservedKeep", present,
                           "-ORBReservedProcesses", std::to_string(moved.pid())},
                          {.joins_errors = true});
  std::string said;
  while (const auto line = daemon.read_line()) {  // bound: the daemon's output
    said += *line + "\n";
    if (line->find("cores to give: none") != line->npos) break;
  }
  kill(daemon.pid(), SIGTERM);
  said += daemon.read_all().value_or("");
  CHECK(daemon.wait()->text() == "exit status 0");
  CHECK_THAT(said, Catch::Contains("cores to give: none") && Catch::Contains("warning: no core can be reserved"));
}
