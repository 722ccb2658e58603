// Scenarios as TOML. A field that has its default is not written.
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "orb/base/contract.h"
#include "orb/eval/formats/formats.h"
#include "orb/eval/formats/label_text.h"
#include "orb/eval/scenario/experiment_tables.h"
#include "orb/eval/scenario/field_tables.h"

namespace corelane::eval {
namespace {

// The code has at most 16 bits.
std::string escaped(std::uint32_t code) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text = "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) text += digits[(code >> shift) & 15];
  return text;
}

// Escapes characters that control a terminal. Bytes that are no UTF-8 become the replacement character.
std::string toml_of(std::string_view text) {
  constexpr std::uint32_t replacement = 0xfffd;
  std::string quoted = "\"";
  while (!text.empty()) {  // bound: the text
    const Utf8Character next = utf8_character(text);
    if (!is_unicode(next))
      quoted += escaped(replacement);
    else if (is_control(next.code))
      quoted += escaped(next.code);
    else
      quoted += (next.code == '"' || next.code == '\\' ? "\\" : "") + std::string(text.substr(0, next.size));
    text.remove_prefix(next.size);
  }
  return quoted + "\"";
}

std::string toml_of(const std::string& text) { return toml_of(std::string_view(text)); }

std::string toml_of(bool flag) { return flag ? "true" : "false"; }
std::string toml_of(std::int64_t number) { return std::to_string(number); }
std::string toml_of(Fraction fraction) { return decimal(fraction); }
std::string toml_of(Duration duration) { return toml_of(to_string(duration)); }
std::string toml_of(SlowdownCharge charge) {
  return charge == SlowdownCharge::worst ? toml_of(std::string_view("worst"))
                                         : toml_of(charge == SlowdownCharge::placed);
}

template <typename Value>
std::string toml_of(const std::optional<Value>& value) {
  return toml_of(*value);  // only values that are not the default, which is none
}

template <typename Value>
std::string toml_of(const std::vector<Value>& values) {
  std::string list;
  for (const Value& value : values) list += (list.empty() ? "[" : ", ") + toml_of(value);
  return list + "]";
}

std::string toml_of(const std::vector<Section>& sections) {
  std::string table;
  for (const auto& [resource, longest] : sections)
    table += (table.empty() ? "{ " : ", ") + toml_of(resource) + " = " + toml_of(longest);
  return table + " }";
}

template <typename Table>
std::string fields_of(std::span<const Field<Table>> fields, const Table& table) {
  const Table fresh{};
  std::string text;
  for (const Field<Table>& field : fields)
    std::visit(
        [&](const auto member) {
          using Value = std::remove_cvref_t<decltype(table.*member)>;
          constexpr bool is_of_sweep =
              std::is_same_v<Value, std::optional<Node>> || std::is_same_v<Value, std::vector<Node>>;
          if constexpr (!is_of_sweep)
            if (table.*member != fresh.*member)
              text += std::string(field.info.key) + " = " + toml_of(table.*member) + "\n";
        },
        field.member);
  return text;
}

template <typename Table>
std::string table_text(const std::string& header, std::span<const Field<Table>> fields, const Table& table) {
  const std::string text = fields_of(fields, table);
  return text.empty() ? "" : "\n" + header + "\n" + text;
}

// Returns the task without values that say what would be so without them. Drawn tasks have such values.
ListedTask without_defaults(ListedTask task) {
  if (task.gap == task.period) task.gap.reset();
  if (task.execution_min == task.execution) task.execution_min.reset();
  return task;
}

Expected<WrittenScenario, ScenarioFault> write_toml(const Scenario& scenario, const FormatOptions&) {
  std::string text = fields_of(top_fields(), scenario);
  text += table_text("[platform]", platform_fields(), scenario.platform);
  text += table_text("[policy]", policy_fields(), scenario.policy);
  text += table_text("[overheads]", overhead_fields(), scenario.overheads);
  for (const ListedTask& task : scenario.tasks) text += table_text("[[task]]", task_fields(), without_defaults(task));
  for (const Chain& chain : scenario.chains) text += table_text("[[chain]]", chain_fields(), chain);
  for (const PairSlowdown& slowdown : scenario.slowdowns)
    text += table_text("[[slowdown]]", slowdown_fields(), slowdown);
  return WrittenScenario{.text = text.substr(text.starts_with('\n') ? 1 : 0)};
}

}  // namespace

namespace formats {

extern const ScenarioFormat toml{.name = "toml",
                                 .ending = ".toml",
                                 .help = "a scenario of Corelane",
                                 .longest = 1 << 20,  // the limit of core::read_toml()
                                 .fits = nullptr,
                                 .read = nullptr,
                                 .write = write_toml};

}  // namespace formats
}  // namespace corelane::eval
