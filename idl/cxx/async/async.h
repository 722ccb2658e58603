// Writes asynchronous stubs: the class with the sendc_ functions of an interface, and the traits that name the class.
// The model must come from with_reply_handlers().
//
// The folder idl/cxx/async writes asynchronous calls.
#pragma once

#include <string>
#include <vector>

#include "idl/cxx/calls/calls.h"
#include "idl/cxx/spelling/spelling.h"
#include "idl/cxx/spelling/text.h"

namespace corelane::idl::cxx {

// One sendc_ function: the call that it makes, and the two operations of the handler that receive the result.
struct Send {
  std::string name;
  Call call;
  std::string reply;
  std::string failure;
};

// Returns the functions that the stub declares, one for each of class_calls_of(). Returns none if there is no such
// stub: the interface is not a reply handler, or it handles an abstract interface.
std::vector<Send> sends_of(const Spelling& spelling, DefId handler);

// Declares the stub. Call it after the reply handler has been declared.
void declare_async_stub(const Spelling& spelling, DefId handler, Text& out);
void define_async_stub(const Spelling& spelling, DefId handler, Text& out);
// Writes the specialization of CORBA::amic_traits, inside namespace CORBA; nothing if there is no such stub.
void write_async_traits(const Spelling& spelling, DefId interface_id, Text& out);

}  // namespace corelane::idl::cxx
