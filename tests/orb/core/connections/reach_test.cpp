#include "orb/core/connections/reach.h"

#include <catch2/catch.hpp>
#include <span>
#include <vector>

namespace reach_test {

using namespace corelane;
using core::Reach;
using transport::channel_endpoint;
using transport::Endpoint;
using transport::unix_endpoint;

namespace {

// Returns the endpoints within the reach, of an object with one address for each list.
std::vector<std::vector<Endpoint>> left_by(const Reach& reach, const std::vector<std::vector<Endpoint>>& all) {
  std::vector<core::Address> addresses;
  for (const auto& endpoints : all) addresses.emplace_back().endpoints = endpoints;
  const Endpoint own{"own", 1};
  std::vector<std::vector<Endpoint>> left;
  for (auto& address : core::within(reach, addresses, std::span(&own, 1))) left.push_back(address.endpoints);
  return left;
}

}  // namespace

TEST_CASE("an unlimited reach has every endpoint of a reference") {
  const std::vector<std::vector<Endpoint>> all{{channel_endpoint("/c"), unix_endpoint("/u"), {"h", 1}, {"own", 1}}, {}};
  CHECK(left_by(Reach{}, all) == all);
}

TEST_CASE("a reach on the network has no Unix socket, no channel and not this process") {
  CHECK(left_by(Reach::network(), {{channel_endpoint("/c"), unix_endpoint("/u"), {"h", 1}, {"own", 1}, {"own", 2}}}) ==
        std::vector<std::vector<Endpoint>>{{{"h", 1}, {"own", 2}}});
  CHECK(left_by(Reach::network(), {{channel_endpoint("/c")}, {{"own", 1}}, {unix_endpoint("/u")}}).empty());
}

TEST_CASE("a reach with one user's sockets has Unix sockets that the user must own") {
  Endpoint owned = unix_endpoint("/u");
  owned.user = 7;
  CHECK(left_by(Reach::network_and_sockets_of(7), {{channel_endpoint("/c"), unix_endpoint("/u"), {"h", 1}}}) ==
        std::vector<std::vector<Endpoint>>{{owned, {"h", 1}}});
}

TEST_CASE("a connection to this process is known by its port and by the host at both ends") {
  const Endpoint own[] = {{"host.example", 2809}, unix_endpoint("/u")};
  const auto leads_here = [&](const Endpoint& local, const Endpoint& peer) {
    return core::is_to_this_process(local, peer, own);
  };
  CHECK(leads_here({"127.0.0.1", 5}, {"127.0.0.1", 2809}));
  CHECK(leads_here({"127.0.0.1", 5}, {"127.0.0.2", 2809}));
  CHECK(leads_here({"::1", 5}, {"::1", 2809}));
  CHECK(leads_here({"192.0.2.1", 5}, {"192.0.2.1", 2809}));
  CHECK_FALSE(leads_here({"192.0.2.1", 5}, {"192.0.2.2", 2809}));
  CHECK_FALSE(leads_here({"127.0.0.1", 5}, {"127.0.0.1", 2810}));
  CHECK_FALSE(leads_here(unix_endpoint("/u"), unix_endpoint("/u")));
}

}  // namespace reach_test
