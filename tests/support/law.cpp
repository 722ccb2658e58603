#include "tests/support/law.h"

#include <rapidcheck.h>

#include <stdexcept>

namespace corelane::testing {
namespace {

constexpr int numbers_at_most = 400;  // RapidCheck's own limit would end most lists before a nested value

}  // namespace

std::string Draw::binary(std::size_t longest) {
  std::string value(below(longest + 1), '\0');
  for (char& c : value) c = any<char>();
  return value;
}

std::string Draw::text(std::size_t longest) {
  std::string value = binary(longest);
  for (char& c : value)
    if (c == '\0') c = 'a';
  return value;
}

std::vector<std::byte> Draw::bytes(std::size_t longest) {
  const std::string value = binary(longest);
  const auto view = std::as_bytes(std::span(value));
  return {view.begin(), view.end()};
}

bool holds(const std::function<void(Draw&)>& law) {
  return rc::check([&] {
    const auto number = rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<std::uint64_t>());
    Draw draw(*rc::gen::scale(numbers_at_most / double{rc::kNominalSize},
                              rc::gen::container<std::vector<std::uint64_t>>(number)));
    law(draw);
  });
}

void expect(bool condition, const char* what) {
  if (!condition) throw std::logic_error(what);
}

}  // namespace corelane::testing
