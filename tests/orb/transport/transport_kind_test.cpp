// Tests what every kind of transport must do with its endpoints: as text, and in references.
#include "orb/transport/transport_kind.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace transport_kind_test {

using namespace corelane;
using namespace corelane::transport;

namespace {

const HostView here{.boot_id = "b00t", .mount_namespace = 7, .name = "plant"};

giop::IiopProfile profile_with(const Endpoint& endpoint) {
  giop::IiopProfile profile;
  endpoint.kind->write(endpoint, here, profile);
  return profile;
}

// Returns the endpoints of the profile that this kind reads.
std::vector<Endpoint> read_by(const TransportKind& kind, const giop::IiopProfile& profile) {
  Reachable found;
  kind.read(profile, here, found);
  return found.endpoints;
}

}  // namespace

TEST_CASE("transports have different names and prefixes") {
  std::vector<std::string> names, prefixes;
  for (const TransportKind* const kind : transport_kinds()) {
    INFO(kind->name);
    CHECK(kind->name.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == kind->name.npos);
    CHECK(std::count(names.begin(), names.end(), kind->name) == 0);
    CHECK(std::count(prefixes.begin(), prefixes.end(), kind->prefix) == 0);
    CHECK((kind->prefix.empty() || kind->prefix.ends_with(':')));
    CHECK_FALSE(kind->help.empty());
    CHECK_FALSE(kind->help.ends_with('.'));
    names.emplace_back(kind->name);
    prefixes.emplace_back(kind->prefix);
  }
  CHECK(std::count(prefixes.begin(), prefixes.end(), "") == 1);
}

TEST_CASE("a transport that servers offer unasked is for clients of the same host and chooses its path") {
  for (const TransportKind* const kind : transport_kinds()) {
    if (!kind->offered_unasked) continue;
    INFO(kind->name);
    CHECK(kind->of_this_host);
    const auto unnamed = parse_endpoint(kind->prefix);
    REQUIRE(unnamed);
    CHECK(*unnamed == Endpoint{.kind = kind});
  }
}

TEST_CASE("the example of each transport is an endpoint of it and is written as it is read") {
  for (const TransportKind* const kind : transport_kinds()) {
    INFO(kind->name);
    const auto endpoint = parse_endpoint(kind->example);
    REQUIRE(endpoint);
    CHECK(endpoint->kind == kind);
    CHECK(to_string(*endpoint) == kind->example);
    CHECK_FALSE(parse_endpoints(std::string(kind->example) + "," + std::string(kind->example)));
  }
}

TEST_CASE("each transport reads from a reference what it wrote there and no other does") {
  for (const TransportKind* const kind : transport_kinds()) {
    INFO(kind->name);
    const auto endpoint = parse_endpoint(kind->example);
    REQUIRE(endpoint);
    const giop::IiopProfile profile = profile_with(*endpoint);
    for (const TransportKind* const reader : transport_kinds())
      CHECK(read_by(*reader, profile) == (reader == kind ? std::vector{*endpoint} : std::vector<Endpoint>{}));
  }
}

TEST_CASE("each transport describes its components and those of no other") {
  for (const TransportKind* const kind : transport_kinds()) {
    INFO(kind->name);
    const auto endpoint = parse_endpoint(kind->example);
    REQUIRE(endpoint);
    for (const giop::TaggedComponent& component : profile_with(*endpoint).components) {
      for (const TransportKind* const shows : transport_kinds()) {
        const auto shown = shows->show(component);
        CHECK(shown.has_value() == (shows == kind));
        if (shown) CHECK(shown->endpoint.starts_with(kind->name));
      }
    }
  }
}

// Error paths.

TEST_CASE("a damaged component gives no endpoint and no harm") {
  for (const TransportKind* const kind : transport_kinds()) {
    INFO(kind->name);
    giop::IiopProfile profile = profile_with(*parse_endpoint(kind->example));
    for (giop::TaggedComponent& component : profile.components) {
      const std::vector<std::byte> whole = component.data;
      for (std::size_t size = 0; size < whole.size(); ++size) {
        component.data.assign(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
        CHECK(read_by(*kind, profile).empty());
        const auto shown = kind->show(component);
        CHECK((shown && shown->endpoint.empty() && !shown->content.empty()));
      }
      component.data = whole;
    }
  }
}

}  // namespace transport_kind_test
