#include "services/corelane/references/ior.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <streambuf>
#include <string>

#include "orb/giop/code_sets.h"
#include "orb/giop/corbaloc.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane;
using namespace corelane::tool;
using Catch::Contains;
using corelane::testing::TempDirectory;

namespace {

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

giop::Ior sample_reference() {
  const giop::UnixAddress here{.boot_id = "b00t", .mount_namespace = 42, .path = "/run/x.sock"};
  const giop::IiopProfile profile(giop::giop_1_2, {"192.0.2.1", 2809}, bytes_of("key\1"),
                                  {giop::make_orb_type(),
                                   giop::make_code_sets(giop::our_code_sets()),
                                   giop::make_alternate_address({"::1", 99}),
                                   giop::make_unix_address(here),
                                   giop::make_channel_address(here),
                                   {0x1234, bytes_of("\x7f")}});
  giop::Ior ior;
  ior.type_id = "IDL:Plant/Controller:1.0";
  ior.profiles = {giop::make_profile(profile), {77, bytes_of("odd")}};
  return ior;
}

struct ShownReference {
  int status;
  std::string out, err;
};

ShownReference show_text(const std::string& what, Format format = Format::table, const std::string& input = {}) {
  std::istringstream in(input);
  std::ostringstream out, err;
  const int status = show_reference(what, format, in, out, err);
  return {status, out.str(), err.str()};
}

}  // namespace

TEST_CASE("a reference is shown with all that it says") {
  const ShownReference shown = show_text(giop::to_string(sample_reference()));
  CHECK(shown.status == 0);
  CHECK(shown.out ==
        "type        IDL:Plant/Controller:1.0\n"
        "profile 1: IIOP 1.2\n"
        "  endpoint    tcp 192.0.2.1:2809\n"
        "  endpoint    tcp [::1]:99\n"
        "  endpoint    unix /run/x.sock\n"
        "  endpoint    channel /run/x.sock\n"
        "  object key  4 bytes: key\\01\n"
        "  the same    corbaloc:iiop:1.2@192.0.2.1:2809/key%01\n"
        "  ORB type: Corelane\n"
        "  code sets: char UTF-8, converts ISO 8859-1; wchar UTF-16\n"
        "  alternate address: [::1]:99\n"
        "  Unix socket (Corelane): /run/x.sock (boot b00t, mount namespace 42)\n"
        "  channel (Corelane): /run/x.sock (boot b00t, mount namespace 42)\n"
        "  component tag 0x00001234: 1 byte: 7f\n"
        "profile 2: tag 0x0000004d\n"
        "  component tag 0x0000004d: 3 bytes: 6f6464\n");
}

TEST_CASE("programs get a reference as JSON") {
  const auto json = nlohmann::json::parse(show_text(giop::to_string(sample_reference()), Format::json).out);
  CHECK(json["type_id"] == "IDL:Plant/Controller:1.0");
  CHECK(json["profiles"][0]["endpoints"][1] == "tcp [::1]:99");
  CHECK(json["profiles"][0]["object_key_hex"] == "6b657901");
  CHECK(json["profiles"][0]["components"][0]["content"] == "Corelane");
}

TEST_CASE("a reference is taken from a file or from standard input") {
  const TempDirectory place;
  std::ofstream(place / "reference") << "\n  " << giop::to_string(sample_reference()) << "\n";
  const std::string wanted = show_text(giop::to_string(sample_reference())).out;
  CHECK(show_text(place / "reference").out == wanted);
  CHECK(show_text("file://" + (place / "reference")).out == wanted);
  CHECK(show_text("-", Format::table, giop::to_string(sample_reference()) + "\n").out == wanted);
}

TEST_CASE("texts in any script are shown as well") {
  CHECK_THAT(show_text("corbaloc::host,iiop:1.2@other:99/a%20b").out,
             Contains("endpoint    tcp host:2809\n  object key  3 bytes: a b\n") && Contains("profile 2: IIOP 1.2\n"));
  CHECK_THAT(show_text("corbaloc:rir:/TradingService").out,
             Contains("initial reference TradingService, as this ORB is told (-ORBInitRef)"));
  CHECK_THAT(show_text("corbaname:rir:#a/b").out,
             Contains("initial reference NameService, the nameserver that this ORB finds or is told"));
  CHECK_THAT(show_text("corbaname::host#plant/controller").out,
             Catch::StartsWith("name        plant/controller\n") && Contains("object key  11 bytes: NameService\n"));
  CHECK(show_text(giop::to_string(giop::Ior{})).out == "type        not said\nnil: it refers to no object\n");
}

// Errors.

TEST_CASE("a malformed reference is reported with the place") {
  const std::string good = giop::to_string(sample_reference());
  struct Case {
    std::string text;
    std::string said;
  };
  const Case cases[] = {
      {"IOR:00x1", "at character 7: 'x' is no hexadecimal digit"},
      {"IOR:000", "at character 7: the last digit has no partner"},
      {"IOR:", "at character 5: byte 0 of 0: "},
      {good.substr(0, 60), "was the text cut off?"},
      {"IOR:00", "at character 7: byte 1 of 1: the message ends inside a value; was the text cut off?"},
      {"corbaname:rir:tank/pump", "the name follows a #: corbaname:rir:#tank/pump"},
      {"IOR:02000000", "byte 1 of 4"},
      {"corbaloc::host,iiop:1.9@other/x", "at character 16: 'iiop:1.9@other' is no address; expected iiop:HOST:PORT"},
      {"corbaloc::host/a%2", "at character 17: % is to be followed"},
      {"corbaname:iip:host#a", "at character 11: 'iip:host' is no address"},
      {"corbaname::host#a//b", "at character 17: "},
      {"-", "standard input held no reference; give a reference"},
      {"/nowhere/x", "/nowhere/x does not exist; give a reference"},
      {std::string(100'000, 'x'), std::string(100, 'x') + "... is no file's name; give a reference"},
  };
  const TempDirectory place;
  std::ofstream(place / "none") << "hello\n";
  CHECK(show_text(place / "none").err == "corelane ior: " + (place / "none") +
                                             " holds no reference: at character 1: expected IOR:, corbaloc: or "
                                             "corbaname:\n");
  for (const Case& c : cases) {
    const ShownReference shown = show_text(c.text);
    CAPTURE(c.text, shown.err);
    CHECK(shown.status == 1);
    CHECK(shown.out.empty());
    CHECK_THAT(shown.err, Catch::StartsWith("corelane ior: ") && Contains(c.said));
  }
}

TEST_CASE("standard input that does not end is refused after as many bytes as a reference may have") {
  // A source of bytes that never ends, and counts.
  struct Endless final : std::streambuf {
    int_type underflow() override {
      read += sizeof bytes;
      setg(bytes, bytes, bytes + sizeof bytes);
      return traits_type::to_int_type(bytes[0]);
    }
    char bytes[4096] = {};
    std::size_t read = 0;
  } endless;
  std::istream in(&endless);
  const auto reference = tool::reference_of("-", in);
  REQUIRE_FALSE(reference);
  CHECK_THAT(reference.error().text, Catch::StartsWith("standard input has more than 1048576 bytes"));
  CHECK(endless.read <= (std::size_t{1} << 20) + sizeof endless.bytes);
}

TEST_CASE("a damaged profile is told with its byte beside those that can be read") {
  giop::Ior ior = sample_reference();
  ior.profiles[0].data.resize(20);
  const ShownReference shown = show_text(giop::to_string(ior));
  CHECK(shown.status == 1);
  CHECK_THAT(shown.out, Contains("profile 1: IIOP\n  damaged: an object key (a length, and so many bytes) expected at "
                                 "byte 20 of its 20\n") &&
                            Contains("profile 2: "));
}

TEST_CASE("no prefix of a reference is read beyond its end") {
  const std::string good = giop::to_string(sample_reference());
  for (std::size_t length = 0; length < good.size(); ++length) CHECK_FALSE(take_apart(good.substr(0, length)));
  giop::Ior ior = sample_reference();
  const auto whole = ior.profiles[0].data;
  for (std::size_t length = 0; length < whole.size(); ++length) {
    ior.profiles[0].data.assign(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
    const auto parts = take_apart(giop::to_string(ior));
    REQUIRE(parts);
    CHECK((!parts->is_sound() || parts->profiles[0].components.empty()));
  }
}
