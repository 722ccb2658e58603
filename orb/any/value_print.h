// A value printed by its own type: Node{name = "a", next = null}; what comes again in it as "(as before)".
// Threads: none.
#pragma once

#include <iosfwd>
#include <memory>

#include "orb/any/value.h"

namespace corelane::any {

void print(std::ostream& out, const std::shared_ptr<const Value>& value);

}  // namespace corelane::any
