// Tests which endpoints a client tries for a reference, and what a server writes into a reference.
#include "orb/core/connections/address.h"

#include <catch2/catch.hpp>

#include "orb/cdr/writer.h"

namespace address_test {

using namespace corelane;
using namespace corelane::core;
using transport::Endpoint;
using transport::unix_endpoint;

namespace {

const HostView server{.boot_id = "boot-1", .mount_namespace = 7};
const std::byte key[] = {std::byte{'k'}};

giop::Ior served_at(const std::vector<Endpoint>& endpoints) {
  return {.type_id = "IDL:X:1.0", .profiles = {profile_of(endpoints, key, server)}};
}

giop::Ior with_component(giop::TaggedComponent component) {
  const giop::IiopProfile profile{giop::giop_1_2, {"h", 1}, {std::byte{'k'}}, {std::move(component)}};
  return {.type_id = "", .profiles = {giop::make_profile(profile)}};
}

}  // namespace

TEST_CASE("a client on the server's host tries the Unix socket before TCP") {
  const auto address = address_of(served_at({{"h", 1}, unix_endpoint("/run/x.sock")}), server);
  REQUIRE(address);
  CHECK(address->endpoints == std::vector{unix_endpoint("/run/x.sock"), Endpoint{"h", 1}});
  CHECK(address->same_host == SameHost::yes);
}

TEST_CASE("a client elsewhere uses TCP and knows why") {
  const auto [here, why] = GENERATE(table<HostView, SameHost>({
      {HostView{.boot_id = "boot-2", .mount_namespace = 7}, SameHost::other_host},
      {HostView{.boot_id = "boot-1", .mount_namespace = 8}, SameHost::other_namespace},
      {HostView{.boot_id = "", .mount_namespace = 7}, SameHost::other_host},
  }));
  const auto address = address_of(served_at({{"h", 1}, unix_endpoint("/run/x.sock")}), here);
  REQUIRE(address);
  CHECK(address->endpoints == std::vector{Endpoint{"h", 1}});
  CHECK(address->same_host == why);
}

TEST_CASE("a server whose host is unknown is never taken for this one") {
  const HostView unknown;
  const giop::Ior ior{.type_id = "", .profiles = {profile_of({unix_endpoint("/x")}, key, unknown)}};
  CHECK(address_of(ior, unknown)->endpoints.empty());
}

TEST_CASE("all addresses of a server are named in the order of its configuration") {
  const std::vector<Endpoint> all{{"a", 1}, unix_endpoint("/1"), {"b", 2}, unix_endpoint("/2"), {"::1", 3}};
  const auto address = address_of(served_at(all), server);
  REQUIRE(address);
  CHECK(address->endpoints ==
        std::vector{unix_endpoint("/1"), unix_endpoint("/2"), Endpoint{"a", 1}, Endpoint{"b", 2}, Endpoint{"::1", 3}});
}

TEST_CASE("a server without TCP is reached on its host and nowhere else") {
  const giop::Ior ior = served_at({unix_endpoint("/run/x.sock")});
  CHECK(address_of(ior, server)->endpoints == std::vector{unix_endpoint("/run/x.sock")});
  CHECK(address_of(ior, {.boot_id = "boot-2", .mount_namespace = 7})->endpoints.empty());
}

TEST_CASE("this process recognises its own host") {
  const giop::Ior ior{.type_id = "", .profiles = {profile_of({unix_endpoint("/run/x.sock")}, key)}};
  CHECK(address_of(ior)->same_host == SameHost::yes);
}

TEST_CASE("a client takes the Unix socket of an omniORB server whose host has its own name") {
  cdr::Writer writer;
  writer.write_order();
  writer.write_string("plant");
  writer.write_string("/tmp/omni-root/1");
  const giop::Ior ior = with_component({giop::component::omniorb_unix, writer.to_vector()});
  const auto here = address_of(ior, {.boot_id = "boot-1", .name = "plant"});
  CHECK(here->endpoints == std::vector{unix_endpoint("/tmp/omni-root/1"), Endpoint{"h", 1}});
  CHECK(here->same_host == SameHost::yes);
  for (const std::string name : {"office", ""}) {
    const auto elsewhere = address_of(ior, {.boot_id = "boot-1", .name = name});
    CHECK(elsewhere->endpoints == std::vector{Endpoint{"h", 1}});
    CHECK(elsewhere->same_host == SameHost::other_host);
  }
}

// Error paths.

namespace {

std::vector<std::byte> encoded(std::uint8_t version, std::string_view path) {
  cdr::Writer writer;
  writer.write_order();
  writer.write(version);
  writer.write_string("boot-1");
  writer.write(std::uint64_t{7});
  writer.write_string(path);
  return writer.to_vector();
}

}  // namespace

TEST_CASE("a component of another meaning or of none is as if it were not there") {
  const std::vector<std::byte> good = encoded(1, "/x");
  REQUIRE(good == giop::make_unix_address({"boot-1", 7, "/x"}).data);
  constexpr std::uint32_t tag = giop::component::unix_socket;
  const giop::TaggedComponent bad[] = {{tag, {}},
                                       {tag, std::vector<std::byte>(40, std::byte{0xff})},
                                       {tag, {good.begin(), good.end() - 3}},
                                       {tag, encoded(2, "/x")},
                                       {tag, encoded(1, "relative")},
                                       {giop::component::omniorb_unix, {}},
                                       {giop::component::omniorb_unix, encoded(1, "/x")},
                                       {0x7777, good}};
  for (const giop::TaggedComponent& component : bad) {
    const auto address = address_of(with_component(component), server);
    REQUIRE(address);
    CHECK(address->endpoints == std::vector{Endpoint{"h", 1}});
    CHECK(address->same_host == SameHost::no_socket_named);
  }
}

TEST_CASE("bytes that a later version appends to the component are skipped") {
  giop::TaggedComponent component = giop::make_unix_address({"boot-1", 7, "/x"});
  component.data.resize(component.data.size() + 13, std::byte{0x55});
  const auto address = address_of(with_component(component), server);
  CHECK(address->endpoints == std::vector{unix_endpoint("/x"), Endpoint{"h", 1}});
}

}  // namespace address_test
