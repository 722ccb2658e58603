// Error says what failed. It is small enough for the real-time path. Its kinds are the CORBA system exceptions, because
// callers finally get those; core::raise() turns an Error into one. minor.h lists the minor codes.
#pragma once

#include <cstdint>
#include <string_view>

namespace corelane {

// CORBA 3.3 part 1, A.5: the standard system exceptions, in the order of the table in error.cpp.
enum class ErrorKind : std::uint8_t {
  unknown,
  bad_param,
  no_memory,
  imp_limit,
  comm_failure,
  inv_objref,
  no_permission,
  internal,
  marshal,
  initialize,
  no_implement,
  bad_typecode,
  bad_operation,
  no_resources,
  no_response,
  persist_store,
  bad_inv_order,
  transient,
  free_mem,
  inv_ident,
  inv_flag,
  intf_repos,
  bad_context,
  obj_adapter,
  data_conversion,
  object_not_exist,
  transaction_required,
  transaction_rolledback,
  invalid_transaction,
  inv_policy,
  codeset_incompatible,
  rebind,
  timeout,
  transaction_unavailable,
  transaction_mode,
  bad_qos,
};
inline constexpr int error_kinds = static_cast<int>(ErrorKind::bad_qos) + 1;

// Says whether the operation ran before the failure. The values are those on the wire.
enum class Completion : std::uint8_t {
  yes = 0,
  no = 1,
  maybe = 2,
  // The names of CORBA::CompletionStatus, which is an alias of this type.
  COMPLETED_YES = yes,
  COMPLETED_NO = no,
  COMPLETED_MAYBE = maybe,
};

struct Error {
  ErrorKind kind = ErrorKind::unknown;
  Completion completed = Completion::no;
  std::uint32_t minor = 0;

  friend constexpr bool operator==(const Error&, const Error&) = default;
};

// Returns the exception's name without module, such as "COMM_FAILURE". Static storage.
std::string_view name_of(ErrorKind kind) noexcept;

// Returns the kind of "IDL:omg.org/CORBA/COMM_FAILURE:1.0"; unknown for any other text.
ErrorKind error_kind_of(std::string_view repository_id) noexcept;

}  // namespace corelane
