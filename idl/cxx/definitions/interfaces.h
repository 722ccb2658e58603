// Writes interfaces as C++, for clients.
//
// Threads: none.
#pragma once

#include <vector>

#include "idl/cxx/calls/calls.h"
#include "idl/cxx/definitions/typecodes.h"
#include "idl/cxx/spelling/spelling.h"
#include "idl/cxx/spelling/text.h"

namespace corelane::idl::cxx {

// Returns whether the interface is abstract. Such an interface is passed by reference or by value. Its class is no
// stub; the source has a hidden stub.
bool is_abstract_interface(const Spelling& spelling, DefId id);
// Returns whether the interface is local. A local interface has neither stub nor skeleton: programs derive from its
// class.
bool is_local_interface(const Spelling& spelling, DefId id);

void declare_interface(const Spelling& spelling, DefId id, Text& out);
// Defines the interface and the types inside it.
void define_interface(const Spelling& spelling, DefId id, Text& out);
// Writes the operations of a stub as constants in the namespace `space`, for client sources.
void define_operations(const Spelling& spelling, const std::string& space, const std::vector<Call>& calls, Text& out);
// Returns the base initializers of a stub's constructor: "::CORBA::Object(_init)" and so on.
std::vector<std::string> base_initialisers(const Spelling& spelling, DefId id);
// Writes IDL::traits of each interface.
void write_interface_traits(const Spelling& spelling, const std::vector<DefId>& interfaces, Text& out);

}  // namespace corelane::idl::cxx
