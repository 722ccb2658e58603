#include "bench/peers/driver/options.h"

#include <catch2/catch.hpp>
#include <stdexcept>

namespace {

peers::ClientOptions options_of(std::vector<std::string> words) {
  words.insert(words.begin(), "client");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  return peers::client_options(static_cast<int>(arguments.size()), arguments.data());
}

}  // namespace

TEST_CASE("options of a client are read in any order") {
  const auto options = options_of({"--rate", "4000", "--load", "oneways", "--duration-ms", "250", "--gate", "1"});
  CHECK(options.rate == 4000);
  CHECK(options.load == "oneways");
  CHECK(options.duration == std::chrono::milliseconds{250});
  CHECK(options.gate);
  CHECK(options.operation == "ping");
}

TEST_CASE("an option that a client does not know, or without its value, is refused by name") {
  CHECK_THROWS_WITH(options_of({"--frob", "1"}), "unknown option '--frob'");
  CHECK_THROWS_WITH(options_of({"--calls"}), "--calls needs a value");
  CHECK_THROWS_WITH(options_of({"--calls", "many"}), "--calls takes a whole number, not 'many'");
  CHECK_THROWS_WITH(options_of({"--calls", "-1"}), "--calls takes a whole number, not '-1'");
}
