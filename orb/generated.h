// All that generated client code needs. Generated servant code includes orb/corba/servant.h too.
#pragma once

#include "orb/base/language.h"

#include <array>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include "orb/any/desc_of.h"
#include "orb/base/contract.h"
#include "orb/cdr/codec.h"
#include "orb/corba/exception.h"
#include "orb/corba/object.h"
#include "orb/corba/typecode.h"
#include "orb/core/invocation.h"
#include "orb/core/operation.h"

namespace corelane {

// Raised when generated code and library must change together.
inline constexpr int generated_version = 3;

}  // namespace corelane
