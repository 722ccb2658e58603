// What a naming service's refusals mean for who typed the name: which component it was, and what to do next.
// Threads: pure. Allocates.
#pragma once

#include <exception>
#include <string>

#include "orb/giop/name_text.h"

namespace corelane::tool {

// A sentence for a user exception of CosNaming that ended a request for `name`, or "" for any other exception. `binds`:
// the request was to bind it.
std::string fault_of_naming(const std::exception& exception, const giop::Name& name, bool binds = false);

}  // namespace corelane::tool
