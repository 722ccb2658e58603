// Names for errors that several folders return. minor.h has their texts.
#pragma once

#include "orb/base/error.h"
#include "orb/base/minor.h"

namespace corelane::errors {

inline constexpr Error address_in_use{.kind = ErrorKind::comm_failure, .minor = minor::address_in_use};
inline constexpr Error bad_address{.kind = ErrorKind::bad_param, .minor = minor::bad_address};
inline constexpr Error unknown_host{.kind = ErrorKind::transient, .minor = minor::unknown_host};
inline constexpr Error no_name_service{.kind = ErrorKind::transient, .minor = minor::no_name_service};
inline constexpr Error connect_failed{.kind = ErrorKind::transient, .minor = minor::connect_failed};
inline constexpr Error deadline_passed{.kind = ErrorKind::timeout, .minor = minor::deadline_passed};
inline constexpr Error forked{.kind = ErrorKind::bad_inv_order, .minor = minor::forked};
inline constexpr Error no_descriptor{.kind = ErrorKind::no_resources, .minor = minor::no_descriptor};
inline constexpr Error no_memory{.kind = ErrorKind::no_memory, .minor = minor::out_of_memory};
inline constexpr Error not_stored{.kind = ErrorKind::persist_store, .minor = minor::system_refused};
inline constexpr Error orb_destroyed{.kind = ErrorKind::bad_inv_order, .minor = minor::orb_destroyed};
inline constexpr Error queue_full{.kind = ErrorKind::transient, .minor = minor::queue_full};
inline constexpr Error shutting_down{.kind = ErrorKind::transient, .minor = minor::shutting_down};
inline constexpr Error task_gone{.kind = ErrorKind::transient, .minor = minor::unknown_task};

}  // namespace corelane::errors
