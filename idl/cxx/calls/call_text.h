// Writes the parts of C++ that several generated files have for a call.
//
// Threads: none.
#pragma once

#include <string>

#include "idl/cxx/calls/calls.h"
#include "idl/cxx/spelling/spelling.h"
#include "idl/cxx/spelling/text.h"

namespace corelane::idl::cxx {

// Writes the table of exceptions that the call may raise, as <internal name>_raises; nothing if there are none. Client
// and servant sources have it alike.
void write_raises(const Spelling& spelling, const Call& call, Text& out);
// Returns the fields that refer to the table: ".oneway = false, .raises = _op_step_raises".
std::string manner_of(const Call& call);

// Declares a pure virtual function in a class of servants or values: "virtual void step(double reading) = 0;".
void declare_pure(const Spelling& spelling, const Call& call, Text& out);

}  // namespace corelane::idl::cxx
