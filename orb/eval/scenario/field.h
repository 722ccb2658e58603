// Field is a field of one table of a scenario file, and the member that holds its value. The type of the member says
// which values are allowed.
// Threads: constants; store() writes to its argument.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "orb/base/time.h"
#include "orb/eval/scenario.h"
#include "orb/eval/scenario/node.h"
#include "orb/eval/scenario_fields.h"

namespace corelane::eval {

template <typename Table>
using Member = std::variant<std::string Table::*, std::vector<std::string> Table::*, std::int64_t Table::*,
                            Fraction Table::*, std::optional<Fraction> Table::*, Duration Table::*,
                            std::optional<Duration> Table::*, std::vector<Duration> Table::*,
                            std::vector<Fraction> Table::*, std::vector<Section> Table::*, std::optional<Node> Table::*,
                            std::vector<Node> Table::*, bool Table::*, std::optional<SlowdownCharge> Table::*>;

template <typename Table>
struct Field {
  FieldInfo info;
  Member<Table> member;
};

// Misfit says why a value was not stored.
struct Misfit {
  std::string expected{};         // "a whole number from 1 to 1024"
  const Node* element = nullptr;  // the element of the list that is wrong; null: the value itself
};

// Each of these stores the value and returns nothing, or stores nothing and returns what is wrong.
std::optional<Misfit> store(const Node& value, const FieldInfo& info, std::string& out);
std::optional<Misfit> store(const Node& value, const FieldInfo& info, std::vector<std::string>& out);
std::optional<Misfit> store(const Node& value, const FieldInfo& info, std::int64_t& out);
std::optional<Misfit> store(const Node& value, const FieldInfo& info, Fraction& out);
std::optional<Misfit> store(const Node& value, const FieldInfo& info, std::optional<Fraction>& out);
std::optional<Misfit> store(const Node& value, const FieldInfo& info, Duration& out);
std::optional<Misfit> store(const Node& value, const FieldInfo& info, std::optional<Duration>& out);
std::optional<Misfit> store(const Node& value, const FieldInfo& info, std::vector<Duration>& out);
std::optional<Misfit> store(const Node& value, const FieldInfo& info, std::vector<Fraction>& out);
std::optional<Misfit> store(const Node& value, const FieldInfo& info, std::vector<Section>& out);
std::optional<Misfit> store(const Node& value, const FieldInfo& info, std::optional<Node>& out);
std::optional<Misfit> store(const Node& value, const FieldInfo& info, std::vector<Node>& out);
std::optional<Misfit> store(const Node& value, const FieldInfo& info, bool& out);
std::optional<Misfit> store(const Node& value, const FieldInfo& info, std::optional<SlowdownCharge>& out);

template <typename Table>
std::optional<Misfit> store(const Node& value, const Field<Table>& field, Table& table) {
  return std::visit([&](const auto member) { return store(value, field.info, table.*member); }, field.member);
}

// Returns the kind of values that the member holds.
template <typename Table>
FieldKind kind_of(const Field<Table>& field) {
  if (std::holds_alternative<std::vector<std::string> Table::*>(field.member)) return FieldKind::texts;
  if (field.info.choices != nullptr) return FieldKind::choice;
  constexpr FieldKind kinds[] = {FieldKind::text,      FieldKind::texts,    FieldKind::whole,    FieldKind::fraction,
                                 FieldKind::fraction,  FieldKind::duration, FieldKind::duration, FieldKind::durations,
                                 FieldKind::fractions, FieldKind::sections, FieldKind::value,    FieldKind::values,
                                 FieldKind::flag,      FieldKind::charge};
  static_assert(std::size(kinds) == std::variant_size_v<Member<Table>>);
  return kinds[field.member.index()];
}

}  // namespace corelane::eval
