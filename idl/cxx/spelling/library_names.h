// Names that the headers of C, POSIX and C++ use, as generated code sees them. Every standard header of C++ includes
// most of them, so generated code cannot avoid them. tests/idl/cxx/names.py derives the same names from the headers,
// and fails if one is missing here.
//
// Threads: any.
#pragma once

#include <string_view>

#include "idl/model/model.h"

namespace corelane::idl::cxx {

// Returns whether a macro has this name. Then nothing in C++ can have it.
bool is_library_macro(std::string_view name);
// Returns whether a function, type or variable outside all namespaces has this name.
bool is_library_global(std::string_view name);
// Returns whether the headers have a typedef of this name for the same C++ type that `kind` is mapped to. C++ allows
// the same typedef twice, so `typedef long int32_t;` in IDL keeps its name.
bool is_library_typedef(std::string_view name, TypeKind kind);

}  // namespace corelane::idl::cxx
