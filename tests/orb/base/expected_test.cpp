#include "orb/base/expected.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <string>

using namespace corelane;

namespace {

constexpr Error lost{ErrorKind::comm_failure, Completion::maybe, 7};

Expected<int> half(int value) {
  if (value % 2 != 0) return lost;
  return value / 2;
}

Expected<void> only_even(int value) {
  if (value % 2 != 0) return lost;
  return {};
}

}  // namespace

TEST_CASE("an expected holds a value or the error that prevented it") {
  CHECK(half(4).value() == 2);
  CHECK_FALSE(half(3));
  CHECK(half(3).error() == lost);
}

TEST_CASE("an expected of nothing is a yes or an error") {
  CHECK(only_even(2));
  CHECK_FALSE(only_even(1));
  CHECK(only_even(1).error() == lost);
}

TEST_CASE("an expected gives a fallback in place of an error") {
  CHECK(half(4).value_or(9) == 2);
  CHECK(half(3).value_or(9) == 9);
}

TEST_CASE("an expected may hold an error as its value") {
  const Expected<Error> good(lost);
  const Expected<Error> bad(Unexpected<Error>{lost});
  CHECK(good.has_value());
  CHECK_FALSE(bad.has_value());
}

TEST_CASE("a value that only moves moves out of an expected") {
  Expected<std::unique_ptr<int>> expected(std::make_unique<int>(5));
  const std::unique_ptr<int> taken = *std::move(expected);
  CHECK(*taken == 5);
}

TEST_CASE("an expected may carry an error of another type") {
  const Expected<int, std::string> bad(Unexpected<std::string>("why"));
  REQUIRE_FALSE(bad);
  CHECK(bad.error() == "why");
}

TEST_CASE("a value in an expected can be changed in place") {
  Expected<std::string> text(std::string("a"));
  text->append("b");
  *text += "c";
  CHECK(text.value() == "abc");
}

TEST_CASE("a word or an enumerator travels in two registers, and tells which it is") {
  enum class Fault : std::uint8_t { first, last };
  using Word = Expected<std::uint64_t, Fault>;
  STATIC_REQUIRE(sizeof(Word) == 16);
  STATIC_REQUIRE(sizeof(Expected<void, Fault>) == 8);
  CHECK(Word(0).has_value());
  CHECK(*Word(7) == 7);
  CHECK(Word(Fault::first).error() == Fault::first);
  CHECK(Word(Unexpected(Fault::last)).error() == Fault::last);
  CHECK(Word(Fault::last).value_or(3) == 3);
  CHECK(Expected<void, Fault>());
  CHECK(Expected<void, Fault>(Fault::first).error() == Fault::first);
}

TEST_CASE("a short value or an Error travels in two registers, and keeps every field") {
  STATIC_REQUIRE(sizeof(Expected<std::size_t>) == 16);
  STATIC_REQUIRE(sizeof(Expected<bool>) == 16);
  STATIC_REQUIRE(sizeof(Expected<void>) == 8);
  constexpr Error first{}, last{ErrorKind::bad_qos, Completion::maybe, 0xffff'ffff};
  STATIC_REQUIRE(first.minor == 0);
  for (const Error& error : {first, last, Error{ErrorKind::unknown, Completion::yes, 0}}) {
    CHECK_FALSE(Expected<std::size_t>(error));
    CHECK(Expected<std::size_t>(error).error() == error);
    CHECK_FALSE(Expected<void>(error));
    CHECK(Expected<void>(Unexpected(error)).error() == error);
  }
  CHECK(*Expected<std::size_t>(0) == 0);
  CHECK(Expected<bool>(false).has_value());
}
