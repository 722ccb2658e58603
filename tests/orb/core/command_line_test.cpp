#include "orb/core/command_line.h"

#include <catch2/catch.hpp>

using corelane::core::unknown_option;

TEST_CASE("a misspelt option is named with the one that was meant") {
  const std::vector<std::string> known{"--help", "--cores", "--share"};
  const auto said_of = [&](const std::vector<std::string>& words) { return unknown_option(words, known); };
  CHECK(said_of({"reserve", "--core", "1", "--", "true"}) == "there is no option --core; is --cores meant?");
  CHECK(said_of({"--share", "1ms/2ms", "--coers=1"}) == "there is no option --coers; is --cores meant?");
  CHECK(said_of({"--frobnicate"}) == "there is no option --frobnicate");
  CHECK(said_of({"--cores=1", "-q", "word", "--", "--core"}) == "");
  CHECK(said_of({}) == "");
  CHECK(unknown_option(std::vector<std::string>{"--x"}, {}) == "there is no option --x");
}
