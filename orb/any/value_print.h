// Prints a value by its own type: Node{name = "a", next = null}. A value that occurs again in it is printed as "(as
// before)". Threads: none.
#pragma once

#include <iosfwd>
#include <memory>

#include "orb/any/value.h"

namespace corelane::any {

void print(std::ostream& out, const std::shared_ptr<const Value>& value);

}  // namespace corelane::any
