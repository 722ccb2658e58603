// Writes types as C++. Each kind of type has a file with its declaration, its free functions and its definition.
//
// Threads: none. declare_*: for the header, inside the scope of the type. *_functions: for the header, in the namespace
// around it. define_*: for the source, in that namespace.
//
// The folder idl/cxx/definitions writes the definitions of IDL as C++, with one file for each kind.
#pragma once

#include <string>

#include "idl/cxx/spelling/spelling.h"
#include "idl/cxx/spelling/text.h"

namespace corelane::idl::cxx {

void declare_structure(const Spelling& spelling, DefId id, Text& out);  // also for exceptions
void define_structure(const Spelling& spelling, DefId id, Text& out);
void declare_union(const Spelling& spelling, DefId id, Text& out);
void define_union(const Spelling& spelling, DefId id, Text& out);
void declare_enumeration(const Spelling& spelling, DefId id, Text& out);
void define_enumeration(const Spelling& spelling, DefId id, Text& out);
void declare_bitmask(const Spelling& spelling, DefId id, Text& out);
void bitmask_functions(const Spelling& spelling, DefId id, Text& out);
void define_bitmask(const Spelling& spelling, DefId id, Text& out);
// Writes IDL::traits of types whose @bit_bound is not the width of their C++ type.
void write_bit_bounds(const Spelling& spelling, Text& out);
// Writes min_encoded_size of the structures whose encoding takes no bytes, such as one without members.
void write_empty_sizes(const Spelling& spelling, Text& out);
void declare_bitset(const Spelling& spelling, DefId id, Text& out);
void define_bitset(const Spelling& spelling, DefId id, Text& out);

// Declares the free functions of a type: swap, encode, decode, operator<<. `by_value`: passes the value by value.
void declare_codec(const Spelling& spelling, DefId id, bool by_value, Text& out);
// Functions that marshal references to an interface or value type. A file that only declares the type declares them,
// too. The file that defines the type defines them, whether or not it knows of such a file.
void declare_reference_codec(const Spelling& spelling, DefId id, Text& out);
void define_reference_codec(const Spelling& spelling, DefId id, Text& out);
// Defines operator<<, which uses the type's TypeCode.
void define_printing(const Spelling& spelling, DefId id, bool by_value, Text& out);

// Declares the types inside a type or interface, each with its TypeCode.
void declare_nested(const Spelling& spelling, const std::vector<DefId>& contents, Text& out);

// Writes "class X;" for a class that is defined later in the same scope.
void declare_forward(const Spelling& spelling, DefId target, Text& out);
// Declares any definition but an interface or a module. Of forward declarations it writes only those inside a class.
void declare_type(const Spelling& spelling, DefId id, Text& out);
// Declares the functions of the type and of the types inside it.
void declare_functions(const Spelling& spelling, DefId id, Text& out);
// Defines the functions of the type and of the types inside it, without TypeCodes.
void define_type(const Spelling& spelling, DefId id, Text& out);

// Returns the definitions inside this one.
const std::vector<DefId>& nested_in(const Definition& definition);

}  // namespace corelane::idl::cxx
