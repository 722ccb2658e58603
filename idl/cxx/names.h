// The naming table: which IDL identifiers cannot be C++ names as they are, and what they become.
// IDL to C++11 mapping, 6.2: a name that C++ has taken gets the prefix _cxx_.
#pragma once

#include <string>
#include <string_view>

namespace corelane::idl::cxx {

// What a name is for decides what it may clash with beside the keywords.
enum class NameUse {
  plain,             // struct members, enumerators
  function,          // operations, attributes, factories: also the functions of the classes that generated ones derive
  definition,        // of a module or an interface: also the functions that are generated beside them, and std
  outermost,         // of a definition in no module: also the library's namespaces and skeletons, what C declares
  exception,         // also the functions that the class of an exception declares
  exception_member,  // also the functions of std::exception
  local              // parameters: also the few objects that the C library has at file level
};

std::string escaped(std::string_view name, NameUse use);
// Whether the library has a namespace of that name outside all others, and maybe one of its skeletons.
bool is_library_namespace(std::string_view name);

}  // namespace corelane::idl::cxx
