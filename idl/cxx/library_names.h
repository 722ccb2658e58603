// Names that the headers of C, POSIX and C++ take, as generated code sees them. Every standard header of C++ includes
// most of them, so generated code cannot avoid them. tests/idl/cxx/names.py derives the same names from the headers
// and fails where one is missing here.
//
// Threads: any.
#pragma once

#include <string_view>

#include "idl/model/model.h"

namespace corelane::idl::cxx {

// Whether a macro has that name: then nothing in C++ can have it.
bool is_library_macro(std::string_view name);
// Whether a function, type or variable outside all namespaces has that name.
bool is_library_global(std::string_view name);
// Whether the headers have the typedef that an IDL typedef of that name and type becomes: C++ lets it be said twice, so
// `typedef long int32_t;` keeps its name.
bool is_library_typedef(std::string_view name, TypeKind kind);

}  // namespace corelane::idl::cxx
