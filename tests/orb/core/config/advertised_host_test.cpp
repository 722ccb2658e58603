// Tests which host name or address a server puts into references, for every kind of address that it listens at.
#include "orb/core/config/advertised_host.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

using namespace corelane;
using namespace corelane::core;

namespace {

const os::HostAddress lo4{.text = "127.0.0.1", .loopback = true};
const os::HostAddress lo6{.text = "::1", .ipv6 = true, .loopback = true};
const os::HostAddress near4{.text = "169.254.3.4", .link_local = true};
const os::HostAddress near6{.text = "fe80::1%eth0", .ipv6 = true, .link_local = true};
const os::HostAddress first4{.text = "192.0.2.1"};
const os::HostAddress second4{.text = "192.0.2.2"};
const os::HostAddress real6{.text = "2001:db8::1", .ipv6 = true};

}  // namespace

TEST_CASE("a server that listens everywhere is named by the host's first address of that family") {
  const std::vector<os::HostAddress> all{lo4, lo6, near4, near6, first4, second4, real6};
  CHECK(advertised_host("0.0.0.0", all).host == "192.0.2.1");
  CHECK(advertised_host("::", all).host == "2001:db8::1");
}

TEST_CASE("everywhere over IPv6 serves IPv4 as well") {
  CHECK(advertised_host("::", {lo4, lo6, near6, first4}).host == "192.0.2.1");
}

TEST_CASE("the log hears which address was chosen and how to name another") {
  CHECK(advertised_host("0.0.0.0", {lo4, first4}).remark ==
        "references name 192.0.2.1, the first of this host's addresses, since 0.0.0.0 is none; name another with "
        "-ORBEndpointHost or endpoint.host");
}

// Edges.

TEST_CASE("a host without any other address is called by its loopback and says so") {
  CHECK(advertised_host("0.0.0.0", {lo4, near4, real6}).host == "127.0.0.1");
  CHECK(advertised_host("::", {}).host == "::1");
  CHECK_THAT(advertised_host("::", {}).remark, Catch::Contains("which this host alone can call"));
}

TEST_CASE("a host that was listened on is taken as it is and without a word") {
  CHECK(advertised_host("192.0.2.2", {first4, second4}).host == "192.0.2.2");
  CHECK(advertised_host("192.0.2.2", {first4, second4}).remark.empty());
}

TEST_CASE("hosts and ports are read from a list") {
  const auto all = parse_advertised("plant.example, 192.0.2.1:47090,[2001:db8::1]:2809 ,2001:db8::2, [::1]");
  REQUIRE(all.size() == 5);
  CHECK((all[0].host == "plant.example" && all[0].port == 0));
  CHECK((all[1].host == "192.0.2.1" && all[1].port == 47090));
  CHECK((all[2].host == "2001:db8::1" && all[2].port == 2809));
  CHECK((all[3].host == "2001:db8::2" && all[3].port == 0));
  CHECK((all[4].host == "::1" && all[4].port == 0));
}

TEST_CASE("a malformed list of hosts is refused as a whole") {
  const std::string text = GENERATE(as<std::string>{}, "", " ", "a,", ",a", "a:0", "a:65536", "a:", ":1", "a:1x",
                                    "[::1", "[::1]2809", "a b", "a/b", std::string("a\0b", 3), "a\x01", "a\x7f");
  CAPTURE(text);
  CHECK(parse_advertised(text).empty());
}
