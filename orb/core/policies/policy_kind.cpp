#include "orb/core/policies/policy_kind.h"

#include <algorithm>

namespace corelane::core {

const PolicyKind* find_policy_kind(std::uint32_t type) noexcept {
  for (const PolicyKind* const kind : policy_kinds())
    if (kind->type == type) return kind;
  return nullptr;
}

std::size_t PolicyValues::place_of(const PolicyKind& kind) noexcept {
  const auto kinds = policy_kinds();
  return static_cast<std::size_t>(std::find(kinds.begin(), kinds.end(), &kind) - kinds.begin());
}

bool PolicyValues::set(const PolicyKind& kind, PolicyValue value) noexcept {
  if (has(kind)) return of(kind) == value;
  const std::size_t place = place_of(kind);
  values_[place] = value;
  set_ |= std::uint32_t{1} << place;
  return true;
}

Expected<PolicyValue, PolicyFault> read_enumerator(const any::Any& value, std::string_view id, std::uint32_t count,
                                                   std::uint32_t supported) {
  const any::TypeCode& type = value.type_code();
  if (type->kind != any::Kind::enumeration || type->id != id) return PolicyFault::bad_policy_value;
  std::uint32_t number = count;
  value.with_bytes([&](cdr::Reader& reader) { return reader.read(number); });
  if (number >= count) return PolicyFault::bad_policy_value;
  if ((supported >> number & 1) == 0) return PolicyFault::unsupported_policy_value;
  return PolicyValue{number};
}

}  // namespace corelane::core
