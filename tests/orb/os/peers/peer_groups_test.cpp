// Tests how the groups of the peer of a Unix socket are found.
#include "orb/os/peers/peer_groups.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>

#include "orb/os/fd.h"
#include "orb/os/peers/own_user.h"
#include "tests/support/system/groups.h"

using namespace corelane;
using namespace corelane::testing;

namespace {

struct Pair {
  explicit Pair(int kind = SOCK_STREAM) {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, kind | SOCK_CLOEXEC, 0, ends) == 0);
    one.reset(ends[0]), other.reset(ends[1]);
  }
  os::Fd one, other;
};

std::vector<gid_t> consecutive(gid_t first, std::size_t count) {
  std::vector<gid_t> groups(count);
  std::iota(groups.begin(), groups.end(), first);
  return groups;
}

}  // namespace

TEST_CASE("a peer's groups are its primary one and the others") {
  CHECK(os::peer_groups(Pair().one.get()) == own_groups());
  CHECK(os::peer_groups(Pair(SOCK_SEQPACKET).one.get()) == own_groups());
}

TEST_CASE("a peer's groups are found however many there are") {
  if (geteuid() != 0) {
    WARN("SKIPPED: only root can be in other groups");
    return;
  }
  for (const std::size_t count : {0u, 1u, 31u, 32u, 33u, 1000u, 65'536u}) {
    const OtherGroups groups(consecutive(100'000, count));
    const auto found = os::peer_groups(Pair().one.get());
    CHECK(found == own_groups());
    CHECK(found.size() == count + 1);
  }
}

TEST_CASE("a peer has the groups of the moment in which it connected") {
  if (geteuid() != 0) {
    WARN("SKIPPED: only root can be in other groups");
    return;
  }
  const auto before = own_groups();
  const Pair pair;
  const OtherGroups later({100'000});
  CHECK(os::peer_groups(pair.one.get()) == before);
}

TEST_CASE("the number of all unmapped groups is no group, unless all are mapped") {
  const std::string everybody = "         0          0 4294967295\n";
  CHECK(os::is_known_group(7, 99, ""));
  CHECK(os::is_known_group(99, 99, everybody));
  CHECK_FALSE(os::is_known_group(99, 99, "0 1000 1\n"));
  CHECK_FALSE(os::is_known_group(99, 99, ""));
}

// Error paths.

TEST_CASE("a descriptor that is no Unix socket has no groups") {
  CHECK(os::peer_groups(-1).empty());
  const os::Fd tcp(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  CHECK(os::peer_groups(tcp.get()).empty());
  const os::Fd unconnected(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  CHECK(os::peer_groups(unconnected.get()).empty());
}
