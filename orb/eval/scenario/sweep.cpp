#include "orb/eval/scenario/sweep.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>

#include "orb/base/contract.h"
#include "orb/core/text/spelling.h"
#include "orb/eval/scenario_fields.h"

namespace corelane::eval {
namespace {

// The ends of a range as whole numbers, and how to write one of these as a value.
struct Range {
  std::int64_t from = 0, to = 0, step = 0;
  void (*write)(Node& value, std::int64_t number) = nullptr;
};

bool are(Node::Kind kind, const Sweep& sweep) {
  return sweep.from->kind == kind && sweep.to->kind == kind && sweep.step->kind == kind;
}

// Returns nothing if the three values are not of one kind.
std::optional<Range> range_of(const Sweep& sweep) {
  if (are(Node::Kind::whole, sweep))
    return Range{sweep.from->whole, sweep.to->whole, sweep.step->whole, [](Node& value, std::int64_t number) {
                   value.whole = number;
                   value.number = static_cast<double>(number);
                 }};
  if (are(Node::Kind::text, sweep)) {
    const auto from = parse_duration(sweep.from->text), to = parse_duration(sweep.to->text),
               step = parse_duration(sweep.step->text);
    if (!from || !to || !step) return std::nullopt;
    return Range{from->count(), to->count(), step->count(),
                 [](Node& value, std::int64_t number) { value.text = to_string(Duration{number}); }};
  }
  const auto millionths = [](const Node& node) { return std::llround(node.number * 1e6); };
  const auto is_number = [](const Node& node) {
    constexpr double largest = 1e9;
    return (node.kind == Node::Kind::whole || node.kind == Node::Kind::number) && std::abs(node.number) <= largest;
  };
  if (!is_number(*sweep.from) || !is_number(*sweep.to) || !is_number(*sweep.step)) return std::nullopt;
  return Range{millionths(*sweep.from), millionths(*sweep.to), millionths(*sweep.step),
               [](Node& value, std::int64_t number) {
                 value.kind = Node::Kind::number;
                 value.number = static_cast<double>(number) / 1e6;
               }};
}

// Returns the names of all fields that can be swept.
std::vector<std::string> names_of_fields() {
  std::vector<std::string> names;
  for (const ScenarioTable& table : scenario_tables()) {
    if (table.name == "sweep" || table.name == "slowdown") continue;
    const std::string prefix = table.name.empty() ? "" : std::string(table.name) + (table.repeats ? ".LABEL." : ".");
    for (const ScenarioField& field : table.fields) names.push_back(prefix + std::string(field.info.key));
  }
  return names;
}

bool has_field(std::string_view table, std::string_view key) {
  return std::ranges::any_of(scenario_tables(), [&](const ScenarioTable& known) {
    return known.name == table &&
           std::ranges::any_of(known.fields, [&](const ScenarioField& field) { return field.info.key == key; });
  });
}

std::string unknown_field(const std::string& field, const std::string& canonical) {
  const std::string best = core::meant(canonical, names_of_fields(), "the nearest is");
  return "there is no field " + field +
         (best.empty() ? "; a field is such as generate.utilization or task.LABEL.budget" : best);
}

// Returns the child, and makes it if there is none.
Node& child_of(Node& table, std::string_view key, core::FilePlace at) {
  if (Node* const child = table.find(key)) return *child;
  Node child;
  child.key = std::string(key);
  child.at = child.key_at = at;
  table.children.push_back(std::move(child));
  return table.children.back();
}

void put(Node& table, std::string_view key, const Node& value) {
  Node& child = child_of(table, key, value.at);
  child = value;
  child.key = std::string(key);
  child.key_at = value.at;
}

// Sets a field of the task or chain with this label.
std::string put_in_item(Node& root, const std::string& table, std::string_view label, std::string_view key,
                        const Node& value) {
  Node* const list = root.find(table);
  std::vector<std::string> labels;
  for (std::size_t i = 0; list != nullptr && i < list->children.size(); ++i) {
    labels.push_back(label_of(list->children[i], table, i));
    if (labels.back() != label) continue;
    put(list->children[i], key, value);
    return {};
  }
  if (labels.empty()) return "the file has no [[" + table + "]]";
  return "no " + table + " has the label " + std::string(label) + "; there are " + core::listed(labels);
}

}  // namespace

Expected<std::vector<Node>, SweepFault> values_of(const Sweep& sweep) {
  const bool is_range = sweep.from && sweep.to && sweep.step;
  const bool is_part_of_range = sweep.from || sweep.to || sweep.step;
  if (is_part_of_range == !sweep.values.empty() || is_part_of_range != is_range)
    return SweepFault{
        "it needs either values, or from, to and step; write values = [0.5, 1.0], or from = 0.5, to = 2.0 "
        "and step = 0.1"};
  if (!is_range) return sweep.values;
  const auto range = range_of(sweep);
  if (!range) return SweepFault{"from, to and step are not all numbers, or all durations; write them in the same way"};
  if (range->step <= 0 || range->from > range->to)
    return SweepFault{"from must not be more than to, and step must be above 0; swap from and to, or raise step"};
  const auto width = static_cast<std::uint64_t>(range->to) - static_cast<std::uint64_t>(range->from);
  const std::uint64_t steps = width / static_cast<std::uint64_t>(range->step);
  if (steps >= most_values)
    return SweepFault{"it has more than " + std::to_string(most_values) + " values; raise step"};
  std::vector<Node> values(steps + 1, *sweep.from);
  for (std::size_t i = 0; i < values.size(); ++i)
    range->write(values[i], range->from + static_cast<std::int64_t>(i) * range->step);
  return values;
}

std::string set_field(Node& root, const std::string& field, const Node& value) {
  const std::size_t first = field.find('.'), last = field.rfind('.');
  if (first == field.npos) {
    if (!has_field("", field)) return unknown_field(field, field);
    put(root, field, value);
    return {};
  }
  const std::string table = field.substr(0, first), key = field.substr(last + 1);
  const bool has_label = first != last, has_items = table == "task" || table == "chain";
  if (table == "sweep" || table == "published" || table == "slowdown" || has_items != has_label ||
      !has_field(table, key))
    return unknown_field(field, has_items && has_label ? table + ".LABEL." + key : field);
  if (has_label) return put_in_item(root, table, field.substr(first + 1, last - first - 1), key, value);
  put(child_of(root, table, value.at), key, value);
  return {};
}

std::string label_of(const Node& item, const std::string& table, std::size_t index) {
  const Node* const label = item.find("label");
  return label != nullptr && label->kind == Node::Kind::text ? label->text : table + "-" + std::to_string(index + 1);
}

}  // namespace corelane::eval
