// The naming table: says which IDL identifiers cannot be C++ names, and what they become.
// IDL to C++11 mapping, 6.2: a name that C++ has taken gets the prefix _cxx_.
#pragma once

#include <string>
#include <string_view>

namespace corelane::idl::cxx {

// How a name is used. That decides what it can clash with besides the keywords.
enum class NameUse {
  plain,             // struct members, enumerators
  function,          // operations, attributes, factories; clash with functions that generated classes inherit
  definition,        // in a module or an interface; clash with std and with functions generated beside them
  outermost,         // outside all modules; clash also with the library's namespaces and skeletons, and names of C
  exception,         // clash also with functions of the generated exception class
  exception_member,  // clash with functions of std::exception
  local              // parameters; clash with the few global objects of the C library
};

// Returns the C++ name for an IDL identifier: itself, or with the prefix _cxx_.
std::string escaped(std::string_view name, NameUse use);
// Returns whether the library has a namespace of this name outside all others, perhaps with a skeleton in it.
bool is_library_namespace(std::string_view name);

}  // namespace corelane::idl::cxx
