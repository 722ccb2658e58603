#include "orb/base/error.h"

#include <array>

namespace corelane {
namespace {

constexpr std::array<std::string_view, error_kinds> names = {
    "UNKNOWN",
    "BAD_PARAM",
    "NO_MEMORY",
    "IMP_LIMIT",
    "COMM_FAILURE",
    "INV_OBJREF",
    "NO_PERMISSION",
    "INTERNAL",
    "MARSHAL",
    "INITIALIZE",
    "NO_IMPLEMENT",
    "BAD_TYPECODE",
    "BAD_OPERATION",
    "NO_RESOURCES",
    "NO_RESPONSE",
    "PERSIST_STORE",
    "BAD_INV_ORDER",
    "TRANSIENT",
    "FREE_MEM",
    "INV_IDENT",
    "INV_FLAG",
    "INTF_REPOS",
    "BAD_CONTEXT",
    "OBJ_ADAPTER",
    "DATA_CONVERSION",
    "OBJECT_NOT_EXIST",
    "TRANSACTION_REQUIRED",
    "TRANSACTION_ROLLEDBACK",
    "INVALID_TRANSACTION",
    "INV_POLICY",
    "CODESET_INCOMPATIBLE",
    "REBIND",
    "TIMEOUT",
    "TRANSACTION_UNAVAILABLE",
    "TRANSACTION_MODE",
    "BAD_QOS",
};

}  // namespace

// Bounds check: a servant may throw an exception with an arbitrary kind.
std::string_view name_of(ErrorKind kind) noexcept {
  const auto index = static_cast<std::size_t>(kind);
  return index < names.size() ? names[index] : names.front();
}

ErrorKind error_kind_of(std::string_view id) noexcept {
  constexpr std::string_view prefix = "IDL:omg.org/CORBA/";
  constexpr std::string_view suffix = ":1.0";
  if (!id.starts_with(prefix) || !id.ends_with(suffix)) return ErrorKind::unknown;
  id.remove_prefix(prefix.size());
  id.remove_suffix(suffix.size());
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == id) return static_cast<ErrorKind>(i);
  return ErrorKind::unknown;
}

}  // namespace corelane
