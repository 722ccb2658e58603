// Tests the functions that look into a registry.
#include "orb/base/registry.h"

#include <array>
#include <catch2/catch.hpp>

namespace registry_test {

using namespace corelane;

namespace {

struct Shape {
  std::string_view name;
  std::string_view help;
};
constexpr Shape round{"round", "without corners"};
constexpr Shape square{"square", "four corners"};
constexpr Shape star{"star", "many corners"};
constexpr std::array all{&round, &square, &star};

Registry<Shape> first(std::size_t count) { return Registry<Shape>(all).first(count); }

}  // namespace

TEST_CASE("an entry of a registry is found by its name") {
  CHECK(find_named(first(3), "square") == &square);
  CHECK(find_named(first(3), "round") == &round);
}

TEST_CASE("an entry of a table of values is found by its name") {
  constexpr std::array<Shape, 2> table{{{"round", "without corners"}, {"square", "four corners"}}};
  CHECK(find_named(std::span<const Shape>(table), "square") == &table[1]);
  CHECK(find_named(std::span<const Shape>(table), "star") == nullptr);
}

TEST_CASE("a registry lists its names and what they mean") {
  CHECK(names_of(first(3)) == "round, square or star");
  CHECK(help_of(first(2)) == "round: without corners. square: four corners");
}

// Edges.

TEST_CASE("a registry of one or two entries is listed without commas") {
  CHECK(names_of(first(2)) == "round or square");
  CHECK(names_of(first(1)) == "round");
  CHECK(names_of(first(0)).empty());
  CHECK(help_of(first(0)).empty());
}

// Error paths.

TEST_CASE("an unknown name finds no entry") {
  CHECK(find_named(first(3), "Square") == nullptr);
  CHECK(find_named(first(3), "") == nullptr);
  CHECK(find_named(first(0), "round") == nullptr);
}

}  // namespace registry_test
