// IDL::optional in generated code, with std::map Corelane's private extension; see orb/any/containers.h.
// Threads: value types.
#pragma once

#include "orb/base/language.h"

#include "orb/any/containers.h"

namespace IDL {

template <typename T>
using optional = std::optional<T>;

}  // namespace IDL
