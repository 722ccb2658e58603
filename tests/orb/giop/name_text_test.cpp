#include "orb/giop/name_text.h"

#include <catch2/catch.hpp>

#include "orb/base/minor.h"
#include "orb/giop/corbaname.h"
#include "tests/support/law.h"

using namespace corelane;
using namespace corelane::giop;
using namespace corelane::testing;

TEST_CASE("a name and its text stand for each other") {
  struct Row {
    const char* text;
    Name name;
  };
  const Row rows[] = {
      {"a", {{"a", ""}}},
      {"a.b", {{"a", "b"}}},
      {".b", {{"", "b"}}},
      {".", {{"", ""}}},
      {"a/b.c/.d/.", {{"a", ""}, {"b", "c"}, {"", "d"}, {"", ""}}},
      {R"(a\/b\.c\\.k\.d)", {{R"(a/b.c\)", "k.d"}}},
      {R"(\.)", {{".", ""}}},
      {"a b%20#", {{"a b%20#", ""}}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const auto name = parse_name(row.text);
    REQUIRE(name);
    CHECK(*name == row.name);
    CHECK(giop::to_string(row.name) == row.text);
  }
}

TEST_CASE("text that is no name is refused with the reason") {
  struct Row {
    const char *text, *said;
  };
  const Row rows[] = {
      {"", "'' is no name: it is empty"},
      {"/a", "'/a' is no name: a component is empty; write . for one without id and kind"},
      {"a/", "a component is empty"},
      {"a//b", "a component is empty"},
      {"a.", "'a.' is no name: a component ends with a dot"},
      {"a./b", "a component ends with a dot"},
      {"a.b.c", "one dot at most"},
      {"..", "one dot at most"},
      {"a\\", "a \\ at its end"},
      {"a\\b", "after a \\ only"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const auto name = parse_name(row.text);
    REQUIRE_FALSE(name);
    CHECK_THAT(name.error().text, Catch::Contains(row.said));
  }
}

TEST_CASE("any name comes back from its text, and any text that is a name from the name") {
  CHECK(holds([](Draw& draw) {
    Name name{{draw.text(4), draw.text(4)}};
    for (auto more = draw.below(3); more > 0; --more) name.push_back({draw.text(4), draw.text(4)});
    const auto again = parse_name(giop::to_string(name));
    expect(again.has_value() && *again == name, "the name is the same");
    std::string text;
    for (auto left = draw.below(8); left > 0; --left) text += "ab/.\\"[draw.below(5)];
    const auto parsed = parse_name(text);
    expect(!parsed || giop::to_string(*parsed) == text, "the text is the same");
  }));
}

TEST_CASE("a corbaname is a corbaloc and a name") {
  struct Row {
    const char *text, *address, *key;
    Name name;
  };
  const Row rows[] = {
      {"corbaname::host#a/b.c", "host", "NameService", {{"a", ""}, {"b", "c"}}},
      {"CorbaName:iiop:1.2@host:7/Key#a%2fb", "host", "Key", {{"a", ""}, {"b", ""}}},
      {"corbaname::host#a%5c%2fb", "host", "NameService", {{"a/b", ""}}},
      {"corbaname::host", "host", "NameService", {}},
      {"corbaname::host#", "host", "NameService", {}},
      {"corbaname::#a", "", "NameService", {{"a", ""}}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const auto parsed = parse_corbaname(row.text);
    REQUIRE(parsed);
    CHECK(parsed->context.addresses.at(0).address.host == row.address);
    CHECK(parsed->context.object_key == row.key);
    CHECK(parsed->name == row.name);
  }
  CHECK(parse_corbaname("corbaname:rir:#a")->context.initial_reference);
  CHECK(parse_corbaname("corbaname:rir:/Other#a")->context.object_key == "Other");
}

TEST_CASE("a URL is made of an address and a name") {
  CHECK(*corbaname_of(":host:2809", R"(a\/b/c d)") == "corbaname::host:2809#a%5c/b/c%20d");
  CHECK(*corbaname_of("rir:", "a") == "corbaname:rir:#a");
  CHECK(*corbaname_of(":host/Key", "") == "corbaname::host/Key");
  for (const char* address : {"", "host", ":h#", ":h:x", "http://x"}) CHECK_FALSE(corbaname_of(address, "a"));
  CHECK_THAT(corbaname_of(":host", "a//b").error().text, Catch::Contains("a component is empty"));
}

// Error paths.

TEST_CASE("a name that follows no # is told where it belongs") {
  const auto fault_of = [](const char* text) { return parse_corbaname(text).error().text; };
  CHECK(fault_of("corbaname:rir:tank/pump") == "the name follows a #: corbaname:rir:#tank/pump");
  for (const char* text : {"corbaname:host", "corbaname:rir:a:b", "corbaname:"}) CHECK(fault_of(text).empty());
}

TEST_CASE("a malformed corbaname is refused") {
  for (const char* text : {"", "corbaname:", "corbaname:host#a", "corbaname::host#a//b", "corbaname::host#%zz", "x:#a"})
    CHECK(parse_corbaname(text).error().error.minor == minor::bad_uri);
  CHECK(parse_corbaname("corbaname::h:0#a").error().error.minor == minor::bad_address);
}
