// Interfaces as C++, for clients.
//
// Threads: none.
#pragma once

#include <vector>

#include "idl/cxx/calls.h"
#include "idl/cxx/spelling.h"
#include "idl/cxx/text.h"
#include "idl/cxx/typecodes.h"

namespace corelane::idl::cxx {

// Abstract ones are passed by reference or by value: their class has no stubs, and a hidden one in the source has.
bool is_abstract_interface(const Spelling& spelling, DefId id);
// Local ones have neither stub nor skeleton: programs derive from their class.
bool is_local_interface(const Spelling& spelling, DefId id);

void declare_interface(const Spelling& spelling, DefId id, Text& out);
// With the types inside it.
void define_interface(const Spelling& spelling, DefId id, Text& out);
// What client sources say of the calls of a stub: its operations, as constants in a namespace of that name.
void define_operations(const Spelling& spelling, const std::string& space, const std::vector<Call>& calls, Text& out);
// "::CORBA::Object(_init)" and so on: what the constructor of a stub hands on.
std::vector<std::string> base_initialisers(const Spelling& spelling, DefId id);
// IDL::traits of each.
void write_interface_traits(const Spelling& spelling, const std::vector<DefId>& interfaces, Text& out);

}  // namespace corelane::idl::cxx
