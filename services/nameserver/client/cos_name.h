// Converts between CosNaming::Name and the name type of the rest of Corelane. They differ in their types only.
// Threads: pure. Allocates.
#pragma once

#include "CosNamingC.h"
#include "orb/giop/name_text.h"

namespace corelane::naming {

CosNaming::Name cos_name_of(const giop::Name& name);
giop::Name name_of(const CosNaming::Name& name);

}  // namespace corelane::naming
