// Whose server may be believed.
#include "orb/os/peer_trust.h"

#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <string>

#include "tests/support/other_users_socket.h"
#include "tests/support/temp_directory.h"

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

TEST_CASE("a server of another user is believed only if he is named") {
  if (geteuid() != 0) {
    WARN("SKIPPED: only root can be another user");
    return;
  }
  const TempDirectory place;
  const os::Fd server = other_users_socket(place / "his.sock");
  const uid_t named[] = {another_user};
  CHECK_THAT(fault_at(place / "his.sock"), Catch::Contains("is run by user " + std::to_string(another_user)));
  CHECK(fault_at(place / "his.sock", named) == "");
}

// Error paths.

TEST_CASE("what is no socket is not believed") { CHECK(os::why_not_trusted(-1)); }
