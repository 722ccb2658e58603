#include "orb/eval/scenario/field.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "orb/base/contract.h"
#include "orb/core/text/spelling.h"

namespace corelane::eval {
namespace {

constexpr const char* duration_expected = "a duration such as \"10ms\" (a whole number and ns, us, ms or s), in quotes";

// Returns the names of the choices, and which of them is nearest to the text. That one comes first, too.
std::string expected_choice(const std::string& text, const std::vector<std::string_view>& choices) {
  std::vector<std::string> names(choices.begin(), choices.end());
  const std::string nearest = text.empty() ? "" : core::meant(text, names, "the nearest is");
  if (!nearest.empty()) {
    const auto found = std::ranges::find(names, std::string(core::nearest(text, names)));
    std::rotate(names.begin(), found, found + 1);
  }
  std::string expected;
  for (const std::string& name : names) expected += (expected.empty() ? "\"" : ", \"") + name + "\"";
  if (names.size() > 1) expected = "one of " + expected;
  return expected + nearest;
}

bool is_simple(const Node& node) {
  return node.kind == Node::Kind::text || node.kind == Node::Kind::whole || node.kind == Node::Kind::number ||
         node.kind == Node::Kind::flag;
}

// Returns that an element of a list is wrong.
Misfit wrong_element(const Node& element, const std::string& expected) {
  return {.expected = "each element to be " + expected, .element = &element};
}

}  // namespace

std::optional<Misfit> store(const Node& value, const FieldInfo& info, std::string& out) {
  const bool is_text = value.kind == Node::Kind::text;
  if (info.choices != nullptr) {
    const std::vector<std::string_view> choices = info.choices();
    if (!is_text || std::ranges::find(choices, std::string_view(value.text)) == choices.end())
      return Misfit{.expected = expected_choice(is_text ? value.text : "", choices)};
  } else if (!is_text || value.text.empty()) {
    return Misfit{.expected = "a text in quotes"};
  }
  out = value.text;
  return std::nullopt;
}

std::optional<Misfit> store(const Node& value, const FieldInfo& info, std::vector<std::string>& out) {
  if (value.kind != Node::Kind::list || value.children.empty()) return Misfit{.expected = "a list of texts in quotes"};
  std::vector<std::string> given;
  for (const Node& item : value.children)
    if (const auto wrong = store(item, info, given.emplace_back())) return wrong_element(item, wrong->expected);
  out = std::move(given);
  return std::nullopt;
}

std::optional<Misfit> store(const Node& value, const FieldInfo& info, std::int64_t& out) {
  if (value.kind == Node::Kind::whole && value.whole >= info.least && value.whole <= info.most) {
    out = value.whole;
    return std::nullopt;
  }
  if (info.most == std::numeric_limits<std::int64_t>::max())
    return Misfit{.expected = "a whole number of " + std::to_string(info.least) + " or more"};
  return Misfit{.expected = "a whole number from " + std::to_string(info.least) + " to " + std::to_string(info.most)};
}

std::optional<Misfit> store(const Node& value, const FieldInfo& info, Fraction& out) {
  const bool is_number = value.kind == Node::Kind::whole || value.kind == Node::Kind::number;
  constexpr double largest = 1e9;  // so that the millionths are a whole number in a double
  if (is_number && std::abs(value.number) <= largest) {
    std::int64_t millionths = std::llround(value.number * 1e6);
    if (info.rounds_up && static_cast<double>(millionths) / 1e6 < value.number) ++millionths;
    if (millionths >= info.least && millionths <= info.most) {
      out.millionths = millionths;
      return std::nullopt;
    }
  }
  return Misfit{.expected = "a number from " + decimal({info.least}) + " to " + decimal({info.most}) + ", such as 0.5"};
}

std::optional<Misfit> store(const Node& value, const FieldInfo& info, std::optional<Fraction>& out) {
  Fraction given;
  auto wrong = store(value, info, given);
  if (!wrong) out = given;
  return wrong;
}

std::optional<Misfit> store(const Node& value, const FieldInfo&, std::optional<Duration>& out) {
  const auto duration = value.kind == Node::Kind::text ? parse_duration(value.text) : std::nullopt;
  if (!duration)
    return Misfit{.expected =
                      duration_expected + (value.kind == Node::Kind::text ? duration_hint(value.text) : std::string())};
  out = duration;
  return std::nullopt;
}

std::optional<Misfit> store(const Node& value, const FieldInfo& info, Duration& out) {
  std::optional<Duration> given;
  auto wrong = store(value, info, given);
  if (given) out = *given;
  return wrong;
}

std::optional<Misfit> store(const Node& value, const FieldInfo& info, std::vector<Duration>& out) {
  if (value.kind != Node::Kind::list || value.children.empty())
    return Misfit{.expected = "a list of durations such as [\"1ms\", \"5ms\"]"};
  std::vector<Duration> given;
  for (const Node& item : value.children) {
    Duration& duration = given.emplace_back();
    if (const auto wrong = store(item, info, duration)) return wrong_element(item, wrong->expected);
    if (duration <= Duration::zero()) return wrong_element(item, "a duration above 0");
  }
  out = std::move(given);
  return std::nullopt;
}

std::optional<Misfit> store(const Node& value, const FieldInfo& info, std::vector<Fraction>& out) {
  if (value.kind != Node::Kind::list || value.children.empty())
    return Misfit{.expected = "a list of numbers from " + decimal({info.least}) + " to " + decimal({info.most}) +
                              ", such as [0.2, 0.5]"};
  std::vector<Fraction> given;
  for (const Node& item : value.children)
    if (const auto wrong = store(item, info, given.emplace_back())) return wrong_element(item, wrong->expected);
  out = std::move(given);
  return std::nullopt;
}

std::optional<Misfit> store(const Node& value, const FieldInfo& info, std::vector<Section>& out) {
  if (value.kind != Node::Kind::table || value.children.size() > max_uses)
    return Misfit{.expected = "at most four resources with their longest sections, such as { bus = \"200us\" }"};
  std::vector<Section> given;
  for (const Node& item : value.children) {
    Section section{.resource = item.key, .longest = {}};
    if (const auto wrong = store(item, info, section.longest))
      return Misfit{.expected = "for " + item.key + " " + wrong->expected, .element = &item};
    given.push_back(std::move(section));
  }
  out = std::move(given);
  return std::nullopt;
}

std::optional<Misfit> store(const Node& value, const FieldInfo&, std::optional<Node>& out) {
  if (!is_simple(value)) return Misfit{.expected = "a number, a text in quotes such as \"10ms\", or true or false"};
  out = value;
  return std::nullopt;
}

std::optional<Misfit> store(const Node& value, const FieldInfo& info, std::vector<Node>& out) {
  if (value.kind != Node::Kind::list || value.children.empty())
    return Misfit{.expected = "a list of numbers, or of texts in quotes, such as [0.5, 1.0]"};
  for (const Node& item : value.children) {
    std::optional<Node> given;
    if (const auto wrong = store(item, info, given)) return wrong_element(item, wrong->expected);
  }
  out = value.children;
  return std::nullopt;
}

std::optional<Misfit> store(const Node& value, const FieldInfo&, bool& out) {
  if (value.kind != Node::Kind::flag) return Misfit{.expected = "true or false, without quotes"};
  out = value.whole != 0;
  return std::nullopt;
}

std::optional<Misfit> store(const Node& value, const FieldInfo&, std::optional<SlowdownCharge>& out) {
  const bool is_flag = value.kind == Node::Kind::flag;
  if (!is_flag && !(value.kind == Node::Kind::text && value.text == "worst"))
    return Misfit{.expected = "true or false, without quotes, or \"worst\""};
  out = !is_flag ? SlowdownCharge::worst : value.whole != 0 ? SlowdownCharge::placed : SlowdownCharge::none;
  return std::nullopt;
}

}  // namespace corelane::eval
