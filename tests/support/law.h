// Laws are statements that hold for all values. RapidCheck makes a list of numbers, and a law draws its values from it.
// When a law breaks, RapidCheck shrinks the list. Fewer and smaller numbers make simpler values, and after the end of
// the list the values are 0. This way only law.cpp includes RapidCheck. Generators for each type would make these tests
// the slowest files to compile.
//
//   CHECK(holds([](Draw& draw) {
//     const auto text = draw.text();
//     expect(unquoted(quoted(text)) == text, "quoting is undone");
//   }));
//
// To run a broken law's case again, set RC_PARAMS="reproduce=..." with what it printed.
#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace corelane::testing {

class Draw {
 public:
  explicit Draw(std::vector<std::uint64_t> numbers) : numbers_(std::move(numbers)) {}

  std::uint64_t number() { return next_ < numbers_.size() ? numbers_[next_++] : 0; }
  // Returns a number from 0 to bound - 1.
  std::uint64_t below(std::uint64_t bound) { return number() % bound; }
  bool flag() { return (number() & 1) != 0; }

  // Returns any value of the type. Of a floating-point type, returns any value that equals itself.
  template <typename T>
  requires std::is_arithmetic_v<T> T any() {
    if constexpr (std::same_as<T, bool>) return flag();
    if constexpr (std::integral<T>) return static_cast<T>(number());
    const double value = std::bit_cast<double>(number());
    if constexpr (std::same_as<T, float>)
      return std::isnan(value) ? T{} : std::bit_cast<float>(static_cast<std::uint32_t>(number() % 0x7f800000u));
    else
      return std::isnan(value) ? T{} : static_cast<T>(value);
  }
  template <typename T>
  const T& one_of(std::span<const T> values) {
    return values[below(values.size())];
  }

  // Return up to `longest` characters: text() all but NUL, binary() all.
  std::string text(std::size_t longest = 32);
  std::string binary(std::size_t longest = 32);
  std::vector<std::byte> bytes(std::size_t longest = 32);
  // Returns a list of up to `longest` values that `element` draws.
  template <typename Element>
  auto list(Element&& element, std::size_t longest = 8) {
    std::vector<std::remove_cvref_t<decltype(element(*this))>> values;
    for (auto count = below(longest + 1); count > 0; --count) values.push_back(element(*this));
    return values;
  }

 private:
  std::vector<std::uint64_t> numbers_;
  std::size_t next_ = 0;
};

// Returns whether the law holds in every case that RapidCheck tries (a hundred). Prints the shrunk case that breaks it.
bool holds(const std::function<void(Draw&)>& law);

// Breaks the law unless `condition`. `what` says what should have been true.
void expect(bool condition, const char* what);

}  // namespace corelane::testing
