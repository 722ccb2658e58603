// Tests endpoints as text.
#include "orb/transport/endpoint.h"

#include <catch2/catch.hpp>

#include "orb/base/minor.h"

using namespace corelane;
using namespace corelane::transport;

TEST_CASE("an endpoint is a host and a port") {
  CHECK(*parse_endpoint("127.0.0.1:2809") == Endpoint{"127.0.0.1", 2809});
  CHECK(*parse_endpoint("[::1]:2809") == Endpoint{"::1", 2809});
  CHECK(*parse_endpoint("host-1.domain_x.org:80") == Endpoint{"host-1.domain_x.org", 80});
  CHECK(*parse_endpoint("[fe80::1%eth0]:1") == Endpoint{"fe80::1%eth0", 1});
}

TEST_CASE("a Unix endpoint is an absolute path or none") {
  CHECK(*parse_endpoint("unix:/run/plant.sock") == unix_endpoint("/run/plant.sock"));
  CHECK(*parse_endpoint("unix:/a b:1") == unix_endpoint("/a b:1"));
  CHECK(*parse_endpoint("unix:") == unix_endpoint(""));
  CHECK(*parse_endpoint("unix:") != Endpoint{});
}

TEST_CASE("a channel's endpoint is an absolute path or none") {
  CHECK(*parse_endpoint("channel:/run/plant.sock") == channel_endpoint("/run/plant.sock"));
  CHECK(*parse_endpoint("channel:") == channel_endpoint(""));
  CHECK(*parse_endpoint("channel:/x") != unix_endpoint("/x"));
}

TEST_CASE("a list names endpoints of either kind in its order") {
  CHECK(*parse_endpoints("127.0.0.1:0, unix:") == std::vector{Endpoint{"127.0.0.1", 0}, unix_endpoint("")});
  CHECK(*parse_endpoints(" unix:/run/a.sock,:2809 ") == std::vector{unix_endpoint("/run/a.sock"), Endpoint{"", 2809}});
  CHECK(*parse_endpoints("127.0.0.1:0,127.0.0.1:0,unix:,unix:") ==
        std::vector{Endpoint{"127.0.0.1", 0}, Endpoint{"127.0.0.1", 0}, unix_endpoint(""), unix_endpoint("")});
}

TEST_CASE("an endpoint without a host is everywhere") { CHECK(*parse_endpoint(":2809") == Endpoint{"", 2809}); }

TEST_CASE("an endpoint is written as it is read") {
  const std::string text =
      GENERATE(as<std::string>{}, "127.0.0.1:0", "[::1]:2809", "name:65535", ":1", "[fe80::1%eth0]:1",
               "unix:", "unix:/run/plant.sock", "channel:", "channel:/run/a.sock");
  CHECK(to_string(*parse_endpoint(text)) == text);
}

// Edges.

TEST_CASE("a port has sixteen bits") {
  CHECK(parse_endpoint("h:0")->port == 0);
  CHECK(parse_endpoint("h:65535")->port == 65535);
  CHECK_FALSE(parse_endpoint("h:65536"));
  CHECK_FALSE(parse_endpoint("h:-1"));
  CHECK_FALSE(parse_endpoint("h:+1"));
}

// Error paths.

TEST_CASE("a text that is no endpoint is a bad address") {
  const std::string text =
      GENERATE(as<std::string>{}, "", "host", "host:", "host:x", "host:1x", "host: 1", "ho st:1", "::1:2809", "[::1]",
               "[::1]2809", "[]:1", "[host]:1", "[127.0.0.1]:1", "[::1:1", "::1]:1", "a/b:1", "[fe80::1%]:1",
               "[fe80::1%a b]:1", "user@host:1", "unix", "unix:relative", "unix:/run/",
               "unix:/" + std::string(107, 'x'), std::string("unix:/a\0b", 10), "unix:@hidden");
  const auto result = parse_endpoint(text);
  REQUIRE_FALSE(result);
  CHECK(result.error().kind == ErrorKind::bad_param);
  CHECK(result.error().minor == minor::bad_address);
}

TEST_CASE("a list with a fault is refused with what was expected instead") {
  const auto [text, expected] = GENERATE(table<std::string, std::string>({
      {"", "an endpoint"},
      {"127.0.0.1:0,", "after commas"},
      {",unix:", "after commas"},
      {"127.0.0.1", "has no colon"},
      {"h:99999", "a port from 0 to 65535"},
      {"iiop://localhost:5000", "localhost:5000, without iiop://"},
      {"giop:tcp::5000", ":5000, without giop:tcp:"},
      {"::1:2809", "brackets around the IPv6 address"},
      {"[nonsense]:1", "an IPv6 address in the brackets"},
      {"a/b:1", "a host name or an address"},
      {"127.0.0.1:0, unix:plant.sock", "an absolute path such as unix:/run/plant.sock"},
      {"unix:/run/", "the name of a socket"},
      {"channel:x", "an absolute path such as channel:/run/plant.sock"},
      {"channel:/a, channel:/a", "there twice"},
      {"unix:/" + std::string(107, 'x'), "at most 107 bytes"},
      {"unix:/a, unix:/a", "there twice"},
      {"h:1, h:1", "there twice"},
  }));
  const auto result = parse_endpoints(text);
  REQUIRE_FALSE(result);
  CHECK_THAT(result.error().text, Catch::Contains(expected));
}
