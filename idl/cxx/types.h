// Types as C++: for each kind its declaration, the free functions beside it and its definition, in one file per kind.
//
// Threads: none. declare_*: in the header, inside the scope of the type. *_functions: in the header, in the namespace
// around. define_*: in the source, in that namespace.
#pragma once

#include <string>

#include "idl/cxx/spelling.h"
#include "idl/cxx/text.h"

namespace corelane::idl::cxx {

void declare_structure(const Spelling& spelling, DefId id, Text& out);  // and exceptions
void define_structure(const Spelling& spelling, DefId id, Text& out);
void declare_union(const Spelling& spelling, DefId id, Text& out);
void define_union(const Spelling& spelling, DefId id, Text& out);
void declare_enumeration(const Spelling& spelling, DefId id, Text& out);
void define_enumeration(const Spelling& spelling, DefId id, Text& out);
void declare_bitmask(const Spelling& spelling, DefId id, Text& out);
void bitmask_functions(const Spelling& spelling, DefId id, Text& out);
void define_bitmask(const Spelling& spelling, DefId id, Text& out);
// IDL::traits of those whose @bit_bound is not the width of their C++ type.
void write_bit_bounds(const Spelling& spelling, Text& out);
void declare_bitset(const Spelling& spelling, DefId id, Text& out);
void define_bitset(const Spelling& spelling, DefId id, Text& out);

// What every type of values has beside it: swap, encode, decode, operator<<. `by_value`: the argument is.
void declare_codec(const Spelling& spelling, DefId id, bool by_value, Text& out);
// How references to an interface or value type are sent, for files that know it by a declaration only; defined by the
// file that defines it, whether such a file is known there or not.
void declare_reference_codec(const Spelling& spelling, DefId id, Text& out);
void define_reference_codec(const Spelling& spelling, DefId id, Text& out);
// operator<<, by the type's TypeCode.
void define_printing(const Spelling& spelling, DefId id, bool by_value, Text& out);

// The types that stand inside a type or interface, each with its TypeCode.
void declare_nested(const Spelling& spelling, const std::vector<DefId>& contents, Text& out);

// "class X;" of what is defined further down in the same scope.
void declare_forward(const Spelling& spelling, DefId target, Text& out);
// The declaration of any kind but interfaces and modules; a forward declaration's inside a class.
void declare_type(const Spelling& spelling, DefId id, Text& out);
// The functions of the type and of those inside it.
void declare_functions(const Spelling& spelling, DefId id, Text& out);
// The same for definitions; without the TypeCode.
void define_type(const Spelling& spelling, DefId id, Text& out);

// Definitions that stand inside this one.
const std::vector<DefId>& nested_in(const Definition& definition);

}  // namespace corelane::idl::cxx
