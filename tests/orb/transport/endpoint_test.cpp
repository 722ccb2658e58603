// Endpoints as text.
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

TEST_CASE("an endpoint without a host is everywhere") { CHECK(*parse_endpoint(":2809") == Endpoint{"", 2809}); }

TEST_CASE("an endpoint is written as it is read") {
  const std::string text = GENERATE("127.0.0.1:0", "[::1]:2809", "name:65535", ":1", "[fe80::1%eth0]:1");
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
  const std::string text = GENERATE("", "host", "host:", "host:x", "host:1x", "host: 1", "ho st:1", "::1:2809", "[::1]",
                                    "[::1]2809", "[]:1", "[host]:1", "[127.0.0.1]:1", "[::1:1", "::1]:1", "a/b:1",
                                    "[fe80::1%]:1", "[fe80::1%a b]:1", "user@host:1");
  const auto result = parse_endpoint(text);
  REQUIRE_FALSE(result);
  CHECK(result.error().kind == ErrorKind::bad_param);
  CHECK(result.error().minor == minor::bad_address);
}
