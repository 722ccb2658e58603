#include "orb/core/contracts/slowdowns.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "orb/base/contract.h"
#include "orb/core/text/spelling.h"

// The compiled library is linked. The header-only form would compile the parser into every program.
#include <toml++/toml.h>

namespace corelane::core {
namespace {

constexpr Fraction most_metric{1'000'000 * unity.millionths};

FilePlace slowdown_place(const toml::source_region& region) {
  return {.line = region.begin.line, .column = region.begin.column};
}

// SlowdownReader reads one file, until its first fault.
class SlowdownReader {
 public:
  using Fault = std::optional<SettingsFault>;

  explicit SlowdownReader(const std::string& path) : path_(path) {}

  Fault read(const toml::table& root, std::vector<PairSlowdown>& pairs) const {
    for (const auto& [key, value] : root)
      if (key.str() == "slowdown") return read_list(slowdown_place(key.source()), value, pairs);
    return std::nullopt;
  }

 private:
  // A value that is read now.
  struct Value {
    std::string_view key;
    const toml::node& node;
  };

  Fault fault(FilePlace at, const std::string& text) const { return SettingsFault{text_of(path_, at) + text}; }
  Fault unexpected(const Value& value, const std::string& expected) const {
    return fault(slowdown_place(value.node.source()), "slowdown." + std::string(value.key) + ": expected " + expected);
  }

  Fault read_list(FilePlace at, const toml::node& value, std::vector<PairSlowdown>& pairs) const {
    const toml::array* const list = value.as_array();
    const auto is_table = [](const toml::node& item) { return item.is_table(); };
    if (list == nullptr || !std::all_of(list->begin(), list->end(), is_table))
      return fault(at, "slowdown is a list of tables; write [[slowdown]] above the fields of each");
    for (const toml::node& item : *list)
      if (Fault bad = read_pair(*item.as_table(), pairs.emplace_back())) return bad;
    return std::nullopt;
  }

  Fault read_pair(const toml::table& table, PairSlowdown& pair) const {
    pair.at = slowdown_place(table.source());
    for (const auto& [key, value] : table)
      if (Fault bad = read_field(key, value, pair)) return bad;
    if (pair.operation.empty()) return fault(pair.at, "slowdown has no operation; add operation = \"vision\"");
    if (pair.beside.empty()) return fault(pair.at, "slowdown has no beside; add beside = \"control\"");
    return std::nullopt;
  }

  Fault read_field(const toml::key& name, const toml::node& node, PairSlowdown& pair) const {
    const std::string key(name.str());
    const Value value{key, node};
    if (key == "operation") return read_text(value, pair.operation);
    if (key == "beside") return read_text(value, pair.beside);
    if (key == "factor") return read_number(value, {1}, most_slowdown, true, pair.factor);
    if (key == "samples") return read_count(value, pair.samples);
    if (key == "low") return read_number(value, {}, most_slowdown, false, pair.low.emplace());
    if (key == "high") return read_number(value, {}, most_slowdown, true, pair.high.emplace());
    if (key == "alone") return read_duration(value, pair.alone);
    if (key == "together") return read_duration(value, pair.together);
    if (key == "accesses") return read_number(value, {}, most_metric, false, pair.accesses.emplace());
    if (key == "misses") return read_number(value, {}, most_metric, false, pair.misses.emplace());
    if (key == "stalls") return read_number(value, {}, most_metric, false, pair.stalls.emplace());
    const std::vector<std::string> known{"operation", "beside",   "factor",   "samples", "low",   "high",
                                         "alone",     "together", "accesses", "misses",  "stalls"};
    const std::string best = meant(key, known, "the nearest is");
    return fault(slowdown_place(name.source()),
                 "there is no slowdown." + key + (best.empty() ? "; there are " + listed(known) : best));
  }

  Fault read_text(const Value& value, std::string& out) const {
    const auto* const given = value.node.as_string();
    if (given == nullptr || given->get().empty()) return unexpected(value, "a text in quotes");
    out = given->get();
    return std::nullopt;
  }

  Fault read_number(const Value& value, Fraction least, Fraction most, bool rounds_up, Fraction& out) const {
    constexpr double largest = 1e9;  // so that the millionths are a whole number in a double
    double given = std::nan("");
    if (const auto* const whole = value.node.as_integer()) given = static_cast<double>(whole->get());
    if (const auto* const real = value.node.as_floating_point()) given = real->get();
    if (std::abs(given) <= largest) {
      Fraction rounded{std::llround(given * 1e6)};
      if (rounds_up && static_cast<double>(rounded.millionths) / 1e6 < given) ++rounded.millionths;
      if (rounded >= least && rounded <= most) return out = rounded, std::nullopt;
    }
    return unexpected(value, "a number from " + decimal(least) + " to " + decimal(most) + ", such as 0.5");
  }

  Fault read_count(const Value& value, std::int64_t& out) const {
    const auto* const given = value.node.as_integer();
    if (given == nullptr || given->get() < 0) return unexpected(value, "a whole number of 0 or more");
    out = given->get();
    return std::nullopt;
  }

  Fault read_duration(const Value& value, std::optional<Duration>& out) const {
    const auto* const given = value.node.as_string();
    if (given != nullptr) out = parse_duration(given->get());
    if (out) return std::nullopt;
    return unexpected(value, "a duration such as \"10ms\" (a whole number and ns, us, ms or s), in quotes" +
                                 (given != nullptr ? duration_hint(given->get()) : std::string()));
  }

  const std::string& path_;
};

}  // namespace

Expected<std::vector<PairSlowdown>, SettingsFault> parse_slowdowns(std::string_view text, const std::string& path) {
  std::vector<PairSlowdown> pairs;
  try {
    if (auto bad = SlowdownReader(path).read(toml::parse(text, path), pairs)) return *std::move(bad);
  } catch (const toml::parse_error& error) {
    const FilePlace place = slowdown_place(error.source());
    return SettingsFault{text_of(path, place) + toml_fault(error.description(), text, place.line)};
  }
  return pairs;
}

std::shared_ptr<const dispatch::WorstSlowdowns> worst_of(std::span<const PairSlowdown> pairs) {
  std::vector<dispatch::WorstSlowdowns::Pair> factors;
  for (const PairSlowdown& pair : pairs)
    factors.push_back({.operation = pair.operation, .beside = pair.beside, .factor = pair.factor.millionths});
  return std::make_shared<const dispatch::WorstSlowdowns>(factors);
}

}  // namespace corelane::core
