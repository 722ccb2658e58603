// fault_of_naming() explains a naming service's refusal to the user: which component of the name it was, and what to
// do.
// Threads: pure. Allocates.
#pragma once

#include <exception>
#include <string>

#include "orb/giop/name_text.h"

namespace corelane::tool {

// Returns a sentence for a user exception of CosNaming that ended a request for `name`; "" for any other exception.
// `binds` says that the request was to bind it.
std::string fault_of_naming(const std::exception& exception, const giop::Name& name, bool binds = false);

}  // namespace corelane::tool
