// Value types and value boxes as C++. IDL to C++11, 6.18.
//
// valuetype V becomes: the class V, whose operations and state accessors are pure virtual; obv::V, which keeps the
// state; and V_init, its factory. A box is one class. All three stand in the namespace of V.
//
// Threads: none.
#pragma once

#include <vector>

#include "idl/cxx/spelling.h"
#include "idl/cxx/text.h"

namespace corelane::idl::cxx {

void declare_value(const Spelling& spelling, DefId id, Text& out);
void define_value(const Spelling& spelling, DefId id, Text& out);
void declare_value_box(const Spelling& spelling, DefId id, Text& out);
void define_value_box(const Spelling& spelling, DefId id, Text& out);

// IDL::traits of those of the main file.
void write_value_traits(const Spelling& spelling, Text& out);

}  // namespace corelane::idl::cxx
