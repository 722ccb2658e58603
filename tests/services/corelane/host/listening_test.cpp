// Which process listens at a daemon's sockets, and whether it is asked.
#include "services/corelane/host/listening.h"

#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "orb/os/fd.h"
#include "orb/os/socket_path.h"
#include "services/corelane/naming/naming.h"
#include "services/corelane/reservation/reserve.h"
#include "tests/services/corelane/doctor/fake_host.h"
#include "tests/support/system/other_users_socket.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane;
using namespace corelane::tool;
using namespace corelane::testing;
using Catch::Contains;

namespace {

bool may_be_another() {
  if (::geteuid() != 0) std::cout << "SKIPPED: only root has a socket of another user\n";
  return ::geteuid() == 0;
}

}  // namespace

TEST_CASE("the process that listens at a daemon's socket is found, and none is found where none listens") {
  const TempDirectory place;
  const os::Fd daemon = listening_socket(place / "x.sock");
  const Listening found = listening_at({place / "none.sock", place / "x.sock"});
  CHECK(found);
  CHECK(found.at == place / "x.sock");
  CHECK(found.pid == ::getpid());
  CHECK_FALSE(found.stopped);
  CHECK(fault_text(found).empty());
  const os::Fd left = bound_socket(place / "left.sock");  // as a killed daemon leaves it
  CHECK_FALSE(listening_at({place / "none.sock", place / "left.sock"}));
}

TEST_CASE("a daemon that accepts no further connection for now still counts as listening") {
  const TempDirectory place;
  const os::Fd daemon = bound_socket(place / "x.sock");
  REQUIRE(::listen(daemon.get(), 0) == 0);
  const auto address = os::unix_address(place / "x.sock");
  std::vector<os::Fd> waiting;
  const auto is_full = [&] {
    waiting.emplace_back(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    return ::connect(waiting.back().get(), address->generic(), address->length) != 0;
  };
  while (!is_full()) REQUIRE(waiting.size() < 1000);
  REQUIRE(errno == EAGAIN);
  const Listening found = listening_at({place / "x.sock"});
  CHECK(found);
  CHECK(found.pid == 0);
}

TEST_CASE("a stranger at a daemon's socket is told and not asked, and does not stand in another daemon's way") {
  if (!may_be_another()) return;
  const TempDirectory place;
  const os::Fd stranger = other_users_socket(place / "theirs.sock");
  const Listening found = listening_at({place / "theirs.sock", place / "none.sock"});
  CHECK_FALSE(found);
  const std::string told = "process " + std::to_string(::getpid()) + " at " + (place / "theirs.sock") +
                           " is run by user " + std::to_string(another_user) +
                           ", neither this one nor root, so it is not used";
  CHECK(fault_text(found) == told);
  CHECK(listening_at({place / "theirs.sock"}, {.users = {another_user}}));
  CHECK(listening_at({place / "theirs.sock"}, {.anyone = true}));
  std::ostringstream out, err;
  CHECK(show_cores({.sockets = {place / "theirs.sock"}}, {}, out, err) == 1);
  CHECK_THAT(err.str(), Contains("corelane cores: " + told + "; ") && Contains("--runtime-directory"));
  CHECK(list_names({.sockets = {place / "theirs.sock"}}, out, err) == 1);
  CHECK_THAT(err.str(), Contains("corelane ns list: " + told + "; ") && Contains("naming.trusted"));
  const os::Fd ours = listening_socket(place / "ours.sock");
  CHECK(listening_at({place / "theirs.sock", place / "ours.sock"}).at == place / "ours.sock");
}

TEST_CASE("doctor takes no stranger for a daemon, and says how to start one where it is looked for") {
  const FakeHost host;
  const Listening stranger{.at = "/x/s.sock", .pid = 7, .fault = "is run by user 1234, neither this one nor root"};
  for (const char* const name : {"nameserver", "reservation daemon"}) {
    const Finding finding = host.look(name, {.nameserver = stranger, .reserved = stranger});
    CHECK(finding.state == FindingState::missing);
    CHECK_THAT(finding.found, Contains("process 7 at /x/s.sock is run by user 1234"));
    CHECK(finding.commands.empty());
    CHECK_THAT(finding.note, Contains("CORELANE_RUNTIME_DIRECTORY"));
  }
  ProbedFacts elsewhere = ordinary_user();
  elsewhere.nameserver = {}, elsewhere.nameserver_places = {"/x/nameserver.sock"};
  elsewhere.start_options = " -ORBRuntimeDirectory /x";
  CHECK(commands_of(host.look("nameserver", elsewhere)) == "corelane-nameserver -ORBRuntimeDirectory /x &\n");
  CHECK(commands_of(host.look("reservation daemon", elsewhere)) ==
        "sudo corelane-reserved -ORBRuntimeDirectory /x &\n");
}
