// Laws: what holds for all values. RapidCheck makes a list of numbers; a law draws its values from them, and when it
// breaks RapidCheck shrinks the list: the fewer and the smaller the numbers, the simpler the values (0 once the list
// has ended). So RapidCheck is compiled once, in law.cpp. Generators for each type made these tests the slowest of the
// build.
//
//   CHECK(holds([](Draw& draw) {
//     const auto text = draw.text();
//     expect(unquoted(quoted(text)) == text, "quoting is undone");
//   }));
//
// RC_PARAMS="reproduce=..." with what a broken law printed runs its case again.
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
  // 0 .. bound - 1.
  std::uint64_t below(std::uint64_t bound) { return number() % bound; }
  bool flag() { return (number() & 1) != 0; }

  // Any value of the type; of floating-point types any that equals itself.
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

  // Up to `longest` characters; text() has any but NUL, binary() any.
  std::string text(std::size_t longest = 32);
  std::string binary(std::size_t longest = 32);
  std::vector<std::byte> bytes(std::size_t longest = 32);
  // A list of up to `longest` times what `element` draws.
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

// Whether the law holds in every case that RapidCheck tries (a hundred); what breaks it is printed, shrunk.
bool holds(const std::function<void(Draw&)>& law);

// The law is broken unless `condition`. `what` says what should have been.
void expect(bool condition, const char* what);

}  // namespace corelane::testing
