#include "orb/giop/ior.h"

#include <catch2/catch.hpp>
#include <cctype>
#include <string>
#include <vector>

#include "orb/base/minor.h"
#include "tests/support/bytes/giop_mutator.h"
#include "tests/support/bytes/wire.h"
#include "tests/support/law.h"

using namespace corelane;
using namespace corelane::giop;
using namespace corelane::testing;
using test::wire;

namespace {

// Recorded: big endian, type "IDL:A:1.0", one IIOP 1.0 profile, host "h", port 1234, key "k".
const std::string recorded =
    "IOR:000000000000000a49444c3a413a312e3000"
    "0000"
    "00000001"
    "00000000"
    "00000011"
    "00010000"
    "00000002"
    "6800"
    "04d2"
    "00000001"
    "6b";

Ior any_ior(Draw& draw) {
  return {draw.text(), draw.list([](Draw& d) { return Tagged{d.any<std::uint32_t>(), d.bytes()}; })};
}

}  // namespace

TEST_CASE("a recorded reference is understood") {
  const Expected<Ior> ior = parse_ior(recorded);
  REQUIRE(ior);
  CHECK(ior->type_id == "IDL:A:1.0");
  REQUIRE(ior->profiles.size() == 1);
  const Expected<IiopProfile> iiop = parse_iiop(ior->profiles[0]);
  REQUIRE(iiop);
  CHECK(*iiop == IiopProfile{giop_1_0, {"h", 1234}, wire("'k'"), {}});
  CHECK(test::text_of(object_key_of(ior->profiles[0].data)) == "k");
}

TEST_CASE("references come back as they went and keep what is unknown") {
  CHECK(holds([](Draw& draw) {
    const Ior ior = any_ior(draw);
    const Expected<Ior> text = parse_ior(to_string(ior));
    expect(text.has_value(), "its text is understood");
    expect(*text == ior, "its text is the same");
    for (const ByteOrder order : {ByteOrder::big, ByteOrder::little}) {
      cdr::Writer writer(order);
      encode(writer, ior);
      cdr::Reader reader(writer.bytes(), order);
      Ior out;
      expect(decode(reader, out), "it is read");
      expect(out == ior, "it is the same");
    }
  }));
}

TEST_CASE("profiles come back as they went in each version") {
  const Version version = GENERATE(giop_1_0, giop_1_1, giop_1_2);
  IiopProfile profile{version, {"example.org", 65535}, wire("00ff"), {}};
  if (version > giop_1_0) profile.components = {{component::policies, wire("00")}, {4711, wire("'verbatim'")}};
  const Expected<IiopProfile> out = parse_iiop(make_profile(profile));
  REQUIRE(out);
  CHECK(*out == profile);
}

TEST_CASE("a profile of a later minor version is read as 1.2") {
  IiopProfile profile{{1, 7}, {"h", 1}, {}, {}};
  const Expected<IiopProfile> out = parse_iiop(make_profile(profile));
  REQUIRE(out);
  CHECK(out->version == giop_1_2);
}

TEST_CASE("the ORB type and alternate addresses are found among the components") {
  IiopProfile profile{giop_1_2, {"a", 1}, {}, {make_orb_type(), make_alternate_address({"::1", 2})}};
  profile.components.push_back({component::alternate_address, wire("00")});
  CHECK(orb_type_of(profile) == corelane_orb_type);
  CHECK(addresses_of(profile) == std::vector<IiopAddress>{{"a", 1}, {"::1", 2}});
  profile.components.clear();
  CHECK_FALSE(orb_type_of(profile));
}

TEST_CASE("a multiple components profile is a list of components") {
  const auto components = parse_components(wire("00 000000 00000001 00000005 00000002 abcd"));
  REQUIRE(components);
  CHECK(*components == std::vector<TaggedComponent>{{5, wire("abcd")}});
}

TEST_CASE("the hexadecimal digits and the prefix may be of either case") {
  std::string upper = recorded;
  for (char& c : upper) c = static_cast<char>(std::toupper(c));
  CHECK(parse_ior(upper).has_value());
  CHECK(parse_ior("ior:" + recorded.substr(4)).has_value());
}

TEST_CASE("a Unix address is an encapsulation of version and host and namespace and path") {
  const UnixAddress address{.boot_id = "b0", .mount_namespace = 0x0102, .path = "/s"};
  IiopProfile profile{giop_1_2, {"h", 1}, {}, {make_unix_address(address)}};
  CHECK(profile.components.front().tag == 0x434C4E01);
  CHECK(unix_addresses_of(profile) == std::vector{address});
  // Byte order, version, boot id, mount namespace, path, as a big-endian server writes them.
  profile.components.front().data = wire("00 01 0000  00000003 'b0' 00 0000000000  0000000000000102  00000003 '/s' 00");
  CHECK(unix_addresses_of(profile) == std::vector{address});
}

TEST_CASE("a channel's address is the same under a tag of its own") {
  const UnixAddress address{.boot_id = "b0", .mount_namespace = 0x0102, .path = "/s"};
  const IiopProfile profile{giop_1_2, {"h", 1}, {}, {make_unix_address({}), make_channel_address(address)}};
  CHECK(profile.components.back().tag == 0x434C4E02);
  CHECK(profile.components.back().data == make_unix_address(address).data);
  CHECK(channel_addresses_of(profile) == std::vector{address});
}

TEST_CASE("omniORB's Unix address is read as an omniORB server wrote it") {
  // Recorded from omniORB 4.2.5.
  const std::vector<std::byte> data =
      wire("01 000000 03000000 'vm' 00 00 24000000 '/tmp/omni-root/000008428-1795316327' 00");
  const IiopProfile profile{giop_1_2, {"vm", 0}, {}, {{component::omniorb_unix, data}}};
  CHECK(omniorb_unix_addresses_of(profile) ==
        std::vector{NamedUnixAddress{.host = "vm", .path = "/tmp/omni-root/000008428-1795316327"}});
}

// Edges.

TEST_CASE("a reference may have as many profiles as the limit says and no more") {
  const std::size_t count = GENERATE(std::size_t{3}, std::size_t{4}, std::size_t{5});
  Limits limits;
  limits.profiles = 4;
  CHECK(parse_ior(to_string(Ior{"", std::vector<TaggedProfile>(count)}), limits).has_value() == (count <= 4));
}

TEST_CASE("a profile may have as many components as the limit says and no more") {
  const std::size_t count = GENERATE(std::size_t{3}, std::size_t{4}, std::size_t{5});
  Limits limits;
  limits.components = 4;
  const auto profile = make_profile({giop_1_2, {"h", 1}, {}, std::vector<TaggedComponent>(count)});
  CHECK(parse_iiop(profile, limits).has_value() == (count <= 4));
}

TEST_CASE("a nil reference has no profiles") {
  const Expected<Ior> nil = parse_ior(to_string(Ior{}));
  REQUIRE(nil);
  CHECK(nil->nil());
}

TEST_CASE("an object key may be so long that a request with it has 256 bytes for the rest, and no longer") {
  const std::size_t size = GENERATE(std::size_t{743}, std::size_t{744}, std::size_t{745});
  Limits limits;
  limits.message_size = 1000;
  const Ior ior{"IDL:A:1.0", {make_profile({giop_1_2, {"h", 1}, std::vector<std::byte>(size), {}})}};
  const auto fault = fault_of(ior, limits);
  CHECK(fault.has_value() == (size > 744));
  if (fault) CHECK(*fault == Error{ErrorKind::bad_param, Completion::no, minor::key_too_long});
}

TEST_CASE("a reference is usable if one of its profiles is") {
  Limits limits;
  limits.message_size = 1000;
  const TaggedProfile good = make_profile({giop_1_2, {"h", 1}, {}, {}});
  const TaggedProfile long_key = make_profile({giop_1_2, {"h", 1}, std::vector<std::byte>(1000), {}});
  const TaggedProfile cut{profile::iiop, wire("00")};
  CHECK_FALSE(fault_of({"", {long_key, cut, good}}, limits));
  CHECK(fault_of({"", {long_key, cut}}, limits)->minor == minor::key_too_long);
  CHECK(fault_of({"", {cut, long_key}}, limits)->minor == minor::truncated);
  CHECK_FALSE(fault_of({"", {cut, {profile::tao_uiop, {}}}}, limits));
  CHECK_FALSE(fault_of({"", {{4711, {}}}}, limits));
  CHECK_FALSE(fault_of({}, limits));
}

// Error paths.

TEST_CASE("a reference has no NUL character in its host or its type id") {
  const std::vector<std::byte> host_with_nul = wire("00 0102 00 00000004 'a' 00 'b' 00 04d2 0000 00000001 'k'");
  CHECK(fault_of({"", {{profile::iiop, host_with_nul}}}, {})->minor == minor::bad_string);
  CHECK(fault_of({std::string("IDL:\0:1.0", 9), {make_profile({giop_1_2, {"h", 1}, {}, {}})}}, {})->minor ==
        minor::string_has_nul);
}

TEST_CASE("text that is no reference is refused for what it is") {
  CHECK(parse_ior("").error().minor == minor::bad_uri);
  CHECK(parse_ior("IOR").error().minor == minor::bad_uri);
  CHECK(parse_ior("corbaloc::h/k").error().minor == minor::bad_uri);
  CHECK(parse_ior("IOR:").error().minor == minor::bad_ior);
  CHECK(parse_ior("IOR:0").error().minor == minor::bad_ior);
  CHECK(parse_ior("IOR:0g").error().minor == minor::bad_ior);
  CHECK(parse_ior("IOR:02000000").error().minor == minor::bad_ior);
}

TEST_CASE("every truncation of a reference is refused") {
  const std::string text = to_string(test::sample_ior());
  for (std::size_t size = 4; size < text.size(); ++size) {
    INFO("cut to " << size);
    CHECK_FALSE(parse_ior(text.substr(0, size)));
  }
}

TEST_CASE("every truncation of a profile is refused or only lacks all components") {
  const TaggedProfile whole = make_profile({giop_1_2, {"h", 1}, wire("'k'"), {make_orb_type()}});
  int accepted = 0;
  for (std::size_t size = 0; size < whole.data.size(); ++size) {
    TaggedProfile cut{whole.tag, {whole.data.begin(), whole.data.begin() + static_cast<std::ptrdiff_t>(size)}};
    const Expected<IiopProfile> profile = parse_iiop(cut);
    if (!profile) continue;
    ++accepted;
    CHECK(profile->components.empty());
  }
  CHECK(accepted == 1);
}

TEST_CASE("a profile of another kind or major version is refused") {
  CHECK_FALSE(parse_iiop({profile::multiple_components, make_profile({giop_1_2, {"h", 1}, {}, {}}).data}));
  CHECK_FALSE(parse_iiop(make_profile({{2, 0}, {"h", 1}, {}, {}})));
  CHECK(object_key_of({}).empty());
}
