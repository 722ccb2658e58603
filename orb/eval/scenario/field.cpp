#include "orb/eval/scenario/field.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "orb/base/contract.h"
#include "orb/core/config/spelling.h"

namespace corelane::eval {
namespace {

constexpr const char* duration_expected = "a duration such as \"10ms\" (a whole number and ns, us, ms or s), in quotes";

std::string expected_choice(const std::string& text, const std::vector<std::string_view>& choices) {
  const std::vector<std::string> names(choices.begin(), choices.end());
  std::string expected;
  for (const std::string& name : names) expected += (expected.empty() ? "\"" : ", \"") + name + "\"";
  if (names.size() > 1) expected = "one of " + expected;
  return expected + (text.empty() ? "" : core::meant(text, names, "the nearest is"));
}

bool is_simple(const Node& node) {
  return node.kind == Node::Kind::text || node.kind == Node::Kind::whole || node.kind == Node::Kind::number ||
         node.kind == Node::Kind::flag;
}

}  // namespace

std::string store(const Node& value, const FieldInfo& info, std::string& out) {
  const bool is_text = value.kind == Node::Kind::text;
  if (info.choices != nullptr) {
    const std::vector<std::string_view> choices = info.choices();
    if (!is_text || std::ranges::find(choices, std::string_view(value.text)) == choices.end())
      return expected_choice(is_text ? value.text : "", choices);
  } else if (!is_text || value.text.empty()) {
    return "a text in quotes";
  }
  out = value.text;
  return {};
}

std::string store(const Node& value, const FieldInfo& info, std::vector<std::string>& out) {
  if (value.kind != Node::Kind::list || value.children.empty()) return "a list of texts in quotes";
  std::vector<std::string> given;
  for (const Node& item : value.children)
    if (std::string expected = store(item, info, given.emplace_back()); !expected.empty())
      return "a list, each of them " + expected;
  out = std::move(given);
  return {};
}

std::string store(const Node& value, const FieldInfo& info, std::int64_t& out) {
  if (value.kind == Node::Kind::whole && value.whole >= info.least && value.whole <= info.most) {
    out = value.whole;
    return {};
  }
  if (info.most == std::numeric_limits<std::int64_t>::max())
    return "a whole number of " + std::to_string(info.least) + " or more";
  return "a whole number from " + std::to_string(info.least) + " to " + std::to_string(info.most);
}

std::string store(const Node& value, const FieldInfo& info, Fraction& out) {
  const bool is_number = value.kind == Node::Kind::whole || value.kind == Node::Kind::number;
  constexpr double largest = 1e9;  // so that the millionths are a whole number in a double
  if (is_number && std::abs(value.number) <= largest) {
    std::int64_t millionths = std::llround(value.number * 1e6);
    if (info.rounds_up && static_cast<double>(millionths) / 1e6 < value.number) ++millionths;
    if (millionths >= info.least && millionths <= info.most) {
      out.millionths = millionths;
      return {};
    }
  }
  return "a number from " + decimal({info.least}) + " to " + decimal({info.most}) + ", such as 0.5";
}

std::string store(const Node& value, const FieldInfo& info, std::optional<Fraction>& out) {
  Fraction given;
  std::string expected = store(value, info, given);
  if (expected.empty()) out = given;
  return expected;
}

std::string store(const Node& value, const FieldInfo&, std::optional<Duration>& out) {
  const auto duration = value.kind == Node::Kind::text ? parse_duration(value.text) : std::nullopt;
  if (!duration)
    return duration_expected + (value.kind == Node::Kind::text ? duration_hint(value.text) : std::string());
  out = duration;
  return {};
}

std::string store(const Node& value, const FieldInfo& info, Duration& out) {
  std::optional<Duration> given;
  std::string expected = store(value, info, given);
  if (given) out = *given;
  return expected;
}

std::string store(const Node& value, const FieldInfo& info, std::vector<Duration>& out) {
  const std::string list_expected = "a list of durations such as [\"1ms\", \"5ms\"]";
  if (value.kind != Node::Kind::list || value.children.empty()) return list_expected;
  std::vector<Duration> given;
  for (const Node& item : value.children) {
    Duration duration{};
    if (!store(item, info, duration).empty()) return list_expected + "; " + shown(item) + " is none";
    if (duration <= Duration::zero()) return "durations above 0";
    given.push_back(duration);
  }
  out = std::move(given);
  return {};
}

std::string store(const Node& value, const FieldInfo& info, std::vector<Fraction>& out) {
  const std::string list_expected =
      "a list of numbers from " + decimal({info.least}) + " to " + decimal({info.most}) + ", such as [0.2, 0.5]";
  if (value.kind != Node::Kind::list || value.children.empty()) return list_expected;
  std::vector<Fraction> given;
  for (const Node& item : value.children) {
    Fraction fraction;
    if (!store(item, info, fraction).empty()) return list_expected + "; " + shown(item) + " is none";
    given.push_back(fraction);
  }
  out = std::move(given);
  return {};
}

std::string store(const Node& value, const FieldInfo& info, std::vector<Section>& out) {
  if (value.kind != Node::Kind::table || value.children.size() > max_uses)
    return "at most four resources with their longest sections, such as { bus = \"200us\" }";
  std::vector<Section> given;
  for (const Node& item : value.children) {
    Section section{.resource = item.key, .longest = {}};
    if (const std::string expected = store(item, info, section.longest); !expected.empty())
      return "for " + item.key + " " + expected;
    given.push_back(std::move(section));
  }
  out = std::move(given);
  return {};
}

std::string store(const Node& value, const FieldInfo&, std::optional<Node>& out) {
  if (!is_simple(value)) return "a number, a text in quotes such as \"10ms\", or true or false";
  out = value;
  return {};
}

std::string store(const Node& value, const FieldInfo&, std::vector<Node>& out) {
  const bool is_list = value.kind == Node::Kind::list && !value.children.empty();
  if (!is_list || !std::ranges::all_of(value.children, is_simple))
    return "a list of numbers, or of texts in quotes, such as [0.5, 1.0]";
  out = value.children;
  return {};
}

std::string store(const Node& value, const FieldInfo&, bool& out) {
  if (value.kind != Node::Kind::flag) return "true or false, without quotes";
  out = value.whole != 0;
  return {};
}

std::string store(const Node& value, const FieldInfo&, std::optional<SlowdownCharge>& out) {
  const bool is_flag = value.kind == Node::Kind::flag;
  if (!is_flag && !(value.kind == Node::Kind::text && value.text == "worst"))
    return "true or false, without quotes, or \"worst\"";
  out = !is_flag ? SlowdownCharge::worst : value.whole != 0 ? SlowdownCharge::placed : SlowdownCharge::none;
  return {};
}

}  // namespace corelane::eval
