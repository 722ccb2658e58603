// The error of a hook whose context found no room in a message.
//
// Threads: constants.
#pragma once

#include "orb/base/expected.h"
#include "orb/base/minor.h"

namespace corelane::core {

// Returns success if `added`, and otherwise IMP_LIMIT.
inline Expected<void> room_for_context(bool added) noexcept {
  if (added) return {};
  return Error{ErrorKind::imp_limit, Completion::no, minor::too_many_contexts};
}

}  // namespace corelane::core
