#include "idl/sema/constants/operand.h"

#include <limits>

namespace corelane::idl {
namespace {

template <typename T>
Range range_as() {
  return {std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
}

}  // namespace

std::string spell(Integer value) {
  const bool negative = value < 0;
  const auto magnitude = static_cast<std::uint64_t>(negative ? -value : value);
  std::string text(negative ? 1 : 0, '-');
  return text.append(std::to_string(magnitude));
}

std::string_view kind_of(const Operand& operand) {
  constexpr std::string_view names[] = {"a boolean",        "an integer",    "a floating-point number",
                                        "a character",      "a string",      "an enumerator",
                                        "a wide character", "a wide string", "a fixed-point number"};
  return names[operand.index()];
}

std::optional<Range> integer_range(TypeKind kind) {
  switch (kind) {
    case TypeKind::octet:
    case TypeKind::uint8:
      return range_as<std::uint8_t>();
    case TypeKind::int8:
      return range_as<std::int8_t>();
    case TypeKind::int16:
      return range_as<std::int16_t>();
    case TypeKind::uint16:
      return range_as<std::uint16_t>();
    case TypeKind::int32:
      return range_as<std::int32_t>();
    case TypeKind::uint32:
      return range_as<std::uint32_t>();
    case TypeKind::int64:
      return range_as<std::int64_t>();
    case TypeKind::uint64:
      return range_as<std::uint64_t>();
    default:
      return std::nullopt;
  }
}

}  // namespace corelane::idl
