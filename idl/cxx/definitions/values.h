// Writes value types and value boxes as C++. IDL to C++11, 6.18.
//
// valuetype V becomes three classes. Class V has pure virtual operations and state accessors. obv::V keeps the state.
// V_init is its factory. A value box becomes one class. All are in the namespace of V.
//
// Threads: none.
#pragma once

#include <vector>

#include "idl/cxx/spelling/spelling.h"
#include "idl/cxx/spelling/text.h"

namespace corelane::idl::cxx {

void declare_value(const Spelling& spelling, DefId id, Text& out);
void define_value(const Spelling& spelling, DefId id, Text& out);
void declare_value_box(const Spelling& spelling, DefId id, Text& out);
void define_value_box(const Spelling& spelling, DefId id, Text& out);

// Writes IDL::traits of the value types and boxes of the main file.
void write_value_traits(const Spelling& spelling, Text& out);

}  // namespace corelane::idl::cxx
