// CORBA's exceptions under their standard names.
#pragma once

#include "orb/base/language.h"

#include "orb/core/exception.h"

namespace CORBA {

using Exception = ::corelane::core::Exception;
using UserException = ::corelane::core::UserException;
using SystemException = ::corelane::core::SystemException;

using CompletionStatus = ::corelane::Completion;
inline constexpr CompletionStatus COMPLETED_YES = CompletionStatus::yes;
inline constexpr CompletionStatus COMPLETED_NO = CompletionStatus::no;
inline constexpr CompletionStatus COMPLETED_MAYBE = CompletionStatus::maybe;

using UNKNOWN = ::corelane::core::SystemExceptionOf<::corelane::ErrorKind::unknown>;
using BAD_PARAM = ::corelane::core::SystemExceptionOf<::corelane::ErrorKind::bad_param>;
using NO_MEMORY = ::corelane::core::SystemExceptionOf<::corelane::ErrorKind::no_memory>;
using IMP_LIMIT = ::corelane::core::SystemExceptionOf<::corelane::ErrorKind::imp_limit>;
using COMM_FAILURE = ::corelane::core::SystemExceptionOf<::corelane::ErrorKind::comm_failure>;
using INV_OBJREF = ::corelane::core::SystemExceptionOf<::corelane::ErrorKind::inv_objref>;
using NO_PERMISSION = ::corelane::core::SystemExceptionOf<::corelane::ErrorKind::no_permission>;
using INTERNAL = ::corelane::core::SystemExceptionOf<::corelane::ErrorKind::internal>;
using MARSHAL = ::corelane::core::SystemExceptionOf<::corelane::ErrorKind::marshal>;
using INITIALIZE = ::corelane::core::SystemExceptionOf<::corelane::ErrorKind::initialize>;
using NO_IMPLEMENT = ::corelane::core::SystemExceptionOf<::corelane::ErrorKind::no_implement>;
using BAD_TYPECODE = ::corelane::core::SystemExceptionOf<::corelane::ErrorKind::bad_typecode>;
using BAD_OPERATION = ::corelane::core::SystemExceptionOf<::corelane::ErrorKind::bad_operation>;
using NO_RESOURCES = ::corelane::core::SystemExceptionOf<::corelane::ErrorKind::no_resources>;
using NO_RESPONSE = ::corelane::core::SystemExceptionOf<::corelane::ErrorKind::no_response>;
using PERSIST_STORE = ::corelane::core::SystemExceptionOf<::corelane::ErrorKind::persist_store>;
using BAD_INV_ORDER = ::corelane::core::SystemExceptionOf<::corelane::ErrorKind::bad_inv_order>;
using TRANSIENT = ::corelane::core::SystemExceptionOf<::corelane::ErrorKind::transient>;
using FREE_MEM = ::corelane::core::SystemExceptionOf<::corelane::ErrorKind::free_mem>;
using INV_IDENT = ::corelane::core::SystemExceptionOf<::corelane::ErrorKind::inv_ident>;
using INV_FLAG = ::corelane::core::SystemExceptionOf<::corelane::ErrorKind::inv_flag>;
using INTF_REPOS = ::corelane::core::SystemExceptionOf<::corelane::ErrorKind::intf_repos>;
using BAD_CONTEXT = ::corelane::core::SystemExceptionOf<::corelane::ErrorKind::bad_context>;
using OBJ_ADAPTER = ::corelane::core::SystemExceptionOf<::corelane::ErrorKind::obj_adapter>;
using DATA_CONVERSION = ::corelane::core::SystemExceptionOf<::corelane::ErrorKind::data_conversion>;
using OBJECT_NOT_EXIST = ::corelane::core::SystemExceptionOf<::corelane::ErrorKind::object_not_exist>;
using TRANSACTION_REQUIRED = ::corelane::core::SystemExceptionOf<::corelane::ErrorKind::transaction_required>;
using TRANSACTION_ROLLEDBACK = ::corelane::core::SystemExceptionOf<::corelane::ErrorKind::transaction_rolledback>;
using INVALID_TRANSACTION = ::corelane::core::SystemExceptionOf<::corelane::ErrorKind::invalid_transaction>;
using INV_POLICY = ::corelane::core::SystemExceptionOf<::corelane::ErrorKind::inv_policy>;
using CODESET_INCOMPATIBLE = ::corelane::core::SystemExceptionOf<::corelane::ErrorKind::codeset_incompatible>;
using REBIND = ::corelane::core::SystemExceptionOf<::corelane::ErrorKind::rebind>;
using TIMEOUT = ::corelane::core::SystemExceptionOf<::corelane::ErrorKind::timeout>;
using TRANSACTION_UNAVAILABLE = ::corelane::core::SystemExceptionOf<::corelane::ErrorKind::transaction_unavailable>;
using TRANSACTION_MODE = ::corelane::core::SystemExceptionOf<::corelane::ErrorKind::transaction_mode>;
using BAD_QOS = ::corelane::core::SystemExceptionOf<::corelane::ErrorKind::bad_qos>;

}  // namespace CORBA
