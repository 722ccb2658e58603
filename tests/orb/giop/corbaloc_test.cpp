#include "orb/giop/corbaloc.h"

#include <catch2/catch.hpp>
#include <string>

#include "orb/base/minor.h"
#include "tests/support/bytes/wire.h"
#include "tests/support/law.h"

using namespace corelane;
using namespace corelane::giop;
using namespace corelane::testing;

namespace {

Corbaloc parsed(std::string_view text) {
  const Expected<Corbaloc> result = parse_corbaloc(text);
  INFO(text);
  REQUIRE(result);
  return *result;
}

CorbalocAddress only_address(std::string_view text) {
  const Corbaloc result = parsed(text);
  REQUIRE(result.addresses.size() == 1);
  return result.addresses[0];
}

std::uint32_t minor_of(std::string_view text) {
  const Expected<Corbaloc> result = parse_corbaloc(text);
  INFO(text);
  REQUIRE_FALSE(result);
  CHECK(result.error().kind == ErrorKind::bad_param);
  return result.error().minor;
}

}  // namespace

TEST_CASE("a corbaloc names protocol, version, host, port and key") {
  const Corbaloc full = parsed("corbaloc:iiop:1.2@host.example:1234/Some/Key");
  CHECK(full == Corbaloc{false, {{giop_1_2, {"host.example", 1234}}}, "Some/Key"});
}

TEST_CASE("parts that a corbaloc leaves out have the standard's defaults") {
  CHECK(only_address("corbaloc::host/k") == CorbalocAddress{giop_1_0, {"host", 2809}});
  CHECK(only_address("corbaloc:iiop:host/k") == CorbalocAddress{giop_1_0, {"host", 2809}});
  CHECK(only_address("corbaloc::1.1@host/k").version == giop_1_1);
  CHECK(parsed("corbaloc::host").object_key.empty());
  CHECK(only_address("corbaloc::/k") == CorbalocAddress{giop_1_0, {"", 2809}});
  CHECK(to_string(parsed("corbaloc::,:h/k")) == "corbaloc:iiop:1.0@,iiop:1.0@h:2809/k");
  CHECK(parse_corbaloc("corbaloc:iiop:1.0@,iiop:1.0@h:2809/k"));
  CHECK(parse_iiop(to_ior(parsed("corbaloc::/k")).profiles[0])->address == IiopAddress{"localhost", 2809});
}

TEST_CASE("a corbaloc may list several addresses") {
  const Corbaloc several = parsed("corbaloc:iiop:1.2@a:1,:b:2,iiop:1.1@c/k");
  REQUIRE(several.addresses.size() == 3);
  CHECK(several.addresses[0] == CorbalocAddress{giop_1_2, {"a", 1}});
  CHECK(several.addresses[1] == CorbalocAddress{giop_1_0, {"b", 2}});
  CHECK(several.addresses[2] == CorbalocAddress{giop_1_1, {"c", 2809}});
}

TEST_CASE("IPv6 literals stand in brackets") {
  CHECK(only_address("corbaloc::[::1]:7/k").address == IiopAddress{"::1", 7});
  CHECK(only_address("corbaloc:iiop:1.2@[fe80::1%eth0]/k").address == IiopAddress{"fe80::1%eth0", 2809});
  CHECK(only_address("corbaloc::[::ffff:10.0.0.1]/k").address.host == "::ffff:10.0.0.1");
}

TEST_CASE("escapes in the key stand for any byte") {
  CHECK(parsed("corbaloc::h/a%20b%2Fc%ff").object_key == "a b/c\xff");
  CHECK(parsed("corbaloc::h/%00").object_key == std::string(1, '\0'));
}

TEST_CASE("rir names an initial reference") {
  CHECK(parsed("corbaloc:rir:/NameService") == Corbaloc{true, {}, "NameService"});
  CHECK(parsed("corbaloc:rir:") == Corbaloc{true, {}, "NameService"});
  CHECK(parsed("corbaloc:rir:/RootPOA").object_key == "RootPOA");
}

TEST_CASE("the scheme may be of either case") { CHECK(only_address("CORBALOC:IIOP:h/k").address.host == "h"); }

TEST_CASE("a corbaloc comes back as it went whatever bytes its key has") {
  CHECK(holds([](Draw& draw) {
    const auto port = static_cast<std::uint16_t>(1 + draw.below(0xffff));
    const Corbaloc value{false, {{giop_1_1, {"h", port}}, {giop_1_2, {"::1", 1}}}, draw.binary()};
    const Expected<Corbaloc> out = parse_corbaloc(to_string(value));
    expect(out.has_value(), "it is understood");
    expect(*out == value, "it is the same");
  }));
}

TEST_CASE("a corbaloc turns into a reference with a profile per address") {
  const Ior ior = to_ior(parsed("corbaloc::a:1,:1.2@b:2/key"));
  CHECK(ior.type_id.empty());
  REQUIRE(ior.profiles.size() == 2);
  const Expected<IiopProfile> second = parse_iiop(ior.profiles[1]);
  REQUIRE(second);
  CHECK(second->version == giop_1_2);
  CHECK(second->address == IiopAddress{"b", 2});
  CHECK(second->object_key == test::wire("'key'"));
}

// Edges.

TEST_CASE("a corbaloc may list as many addresses as a reference has profiles") {
  const int count = GENERATE(3, 4, 5);
  Limits limits;
  limits.profiles = 4;
  std::string text = "corbaloc:";
  for (int i = 0; i < count; ++i) text += i == 0 ? ":h" : ",:h";
  CHECK(parse_corbaloc(text + "/k", limits).has_value() == (count <= 4));
}

TEST_CASE("ports are numbers from 1 to 65535") {
  CHECK(only_address("corbaloc::h:1/k").address.port == 1);
  CHECK(only_address("corbaloc::h:65535/k").address.port == 65535);
  for (const char* text : {"corbaloc::h:0/k", "corbaloc::h:65536/k", "corbaloc::h:/k", "corbaloc::h:-1/k",
                           "corbaloc::h:1x/k", "corbaloc::[::1]7/k"})
    CHECK(minor_of(text) == minor::bad_address);
}

// Error paths.

TEST_CASE("text that is no corbaloc is refused") {
  for (const char* text : {"", "corbaloc", "corbaloc:", "corbaloc:/k", "corbaloc:h/k", "corbaloc:uiop:h/k",
                           "corbaloc::h,/k", "corbaloc:,:h/k", "corbaloc:rir:x/k", "corbaloc:rir:,:h/k", "IOR:00"})
    CHECK(minor_of(text) == minor::bad_uri);
}

TEST_CASE("a corbaloc refuses versions that are none of GIOP") {
  for (const char* text : {"corbaloc::1.3@h/k", "corbaloc::2.0@h/k", "corbaloc::0.9@h/k", "corbaloc::1@h/k",
                           "corbaloc::@h/k", "corbaloc::1.x@h/k"})
    CHECK(minor_of(text) == minor::bad_uri);
}

TEST_CASE("a corbaloc refuses hosts that are none") {
  for (const char* text : {"corbaloc:::1/k", "corbaloc::h h/k", "corbaloc::[::1/k", "corbaloc::[]/k", "corbaloc::[h]/k",
                           "corbaloc::::1/k", "corbaloc::[::1%]/k"})
    CHECK(minor_of(text) == minor::bad_address);
}

TEST_CASE("a corbaloc refuses broken escapes") {
  for (const char* text : {"corbaloc::h/%", "corbaloc::h/a%2", "corbaloc::h/%zz", "corbaloc::h/%+1"})
    CHECK(minor_of(text) == minor::bad_uri);
}
