#include "orb/eval/scenario/node.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <system_error>

#include "orb/base/text/one_line.h"

namespace corelane::eval {
namespace {

constexpr std::size_t longest_text = 56;

std::string shown_number(double number) {
  std::array<char, 32> digits{};
  const auto [end, fault] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  return fault == std::errc{} ? std::string(digits.data(), end) : "a number";
}

}  // namespace

std::string shown(const Node& node) {
  switch (node.kind) {
    case Node::Kind::text: {
      const std::string text = as_one_line(node.text);
      return "\"" + text.substr(0, longest_text) + (text.size() > longest_text ? "..." : "") + "\"";
    }
    case Node::Kind::whole:
      return std::to_string(node.whole);
    case Node::Kind::number:
      return shown_number(node.number);
    case Node::Kind::flag:
      return node.whole != 0 ? "true" : "false";
    case Node::Kind::list:
      return node.children.empty() ? "an empty list" : "a list";
    case Node::Kind::table:
      return "a table";
    case Node::Kind::other:
      break;
  }
  return "a date or time";
}

}  // namespace corelane::eval
