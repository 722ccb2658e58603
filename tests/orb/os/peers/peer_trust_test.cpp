// Tests which servers are trusted.
#include "orb/os/peers/peer_trust.h"

#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <string>

#include "orb/os/peers/own_user.h"
#include "tests/support/system/other_users_socket.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane;
using namespace corelane::testing;

namespace {

std::string fault_at(const std::string& path, std::span<const uid_t> others = {}) {
  const os::Fd client(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto address = os::unix_address(path);
  REQUIRE(address);
  REQUIRE(::connect(client.get(), address->generic(), address->length) == 0);
  return os::why_not_trusted(client.get(), others).value_or("");
}

}  // namespace

TEST_CASE("a server of this process's own user is believed") {
  const TempDirectory place;
  const os::Fd server = listening_socket(place / "own.sock");
  CHECK(fault_at(place / "own.sock") == "");
}

TEST_CASE("a server of another user is trusted only if that user is named") {
  if (geteuid() != 0) {
    WARN("SKIPPED: only root can be another user");
    return;
  }
  const TempDirectory place;
  const os::Fd server = other_users_socket(place / "theirs.sock");
  const uid_t named[] = {another_user};
  CHECK_THAT(fault_at(place / "theirs.sock"), Catch::Contains("is run by user " + std::to_string(another_user)));
  CHECK(fault_at(place / "theirs.sock", named) == "");
}

TEST_CASE("the number that stands for all unmapped users is no process's own user, unless all are mapped") {
  struct Case {
    uid_t user, own;
    std::string map;
    bool is_own;
  };
  const std::string everybody = "         0          0 4294967295\n";
  const Case cases[] = {{7, 7, "", true},
                        {7, 8, everybody, false},
                        {0, 0, "0 2000 1\n", true},
                        {99, 99, everybody, true},
                        {99, 99, "0 0 1000\n1000 1000 4294966295", true},
                        {99, 99, "99 2000 1\n", false},
                        {99, 99, "0 0 4294967294\n", false},
                        {99, 99, "", false},
                        {99, 99, "nonsense\n0 0 x\n", false}};
  for (const Case& one : cases) {
    INFO(one.user << " of " << one.own << " where the map is " << one.map);
    CHECK(os::is_own_user(one.user, one.own, 99, one.map) == one.is_own);
  }
  CHECK_FALSE(os::is_own_user(geteuid() + 1));
  CHECK(os::is_one_user(geteuid() + 1, geteuid() + 1));
  CHECK_FALSE(os::is_one_user(geteuid() + 1, geteuid() + 2));
}

// Error paths.

TEST_CASE("a descriptor that is no socket is not trusted") { CHECK(os::why_not_trusted(-1)); }
