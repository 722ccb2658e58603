// Names that asynchronous calls cannot have: the implied IDL gives way where it can, but never to what stands in two
// bases, of which neither file knows the other.
#pragma once

#include <vector>

#include "idl/cxx/support.h"
#include "idl/model/model.h"

namespace corelane::idl::cxx {

// The interfaces of the main file whose handler would have, from two bases, replies of one name, or whose stub a sendc_
// function named like one of its operations.
std::vector<Unsupported> clashing_async_names(const Model& model);

}  // namespace corelane::idl::cxx
