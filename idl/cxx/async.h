// Asynchronous stubs: the class with the sendc_ functions of an interface, and the traits that name it. In a model of
// with_reply_handlers().
#pragma once

#include <string>
#include <vector>

#include "idl/cxx/calls.h"
#include "idl/cxx/spelling.h"
#include "idl/cxx/text.h"

namespace corelane::idl::cxx {

// What one sendc_ function does: the call, and the two operations of the handler that hear of it.
struct Send {
  std::string name;
  Call call;
  std::string reply;
  std::string failure;
};

// Those that the stub declares: one for each of class_calls_of(). None where there is no such stub: for an interface
// that is no reply handler, or is that of an abstract interface.
std::vector<Send> sends_of(const Spelling& spelling, DefId handler);

// Behind the reply handler that they send their replies to.
void declare_async_stub(const Spelling& spelling, DefId handler, Text& out);
void define_async_stub(const Spelling& spelling, DefId handler, Text& out);
// CORBA::amic_traits, inside that namespace; nothing where there is no such stub.
void write_async_traits(const Spelling& spelling, DefId interface_id, Text& out);

}  // namespace corelane::idl::cxx
