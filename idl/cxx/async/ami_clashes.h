// Finds names of asynchronous calls that clash. The implied IDL changes a name where it can. It cannot change names in
// two bases that come from files which do not know each other.
#pragma once

#include <vector>

#include "idl/cxx/support.h"
#include "idl/model/model.h"

namespace corelane::idl::cxx {

// Returns the interfaces of the main file with a clash: two bases give the handler replies with the same name, or the
// stub has a sendc_ function with the name of an operation.
std::vector<Unsupported> clashing_async_names(const Model& model);

}  // namespace corelane::idl::cxx
