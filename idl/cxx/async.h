// Asynchronous stubs: the class with the sendc_ functions of an interface, and the traits that name it. In a model of
// with_reply_handlers().
#pragma once

#include "idl/cxx/spelling.h"
#include "idl/cxx/text.h"

namespace corelane::idl::cxx {

// Behind the reply handler that they send their replies to.
void declare_async_stub(const Spelling& spelling, DefId handler, Text& out);
void define_async_stub(const Spelling& spelling, DefId handler, Text& out);
// CORBA::amic_traits, inside that namespace; nothing for an interface that is no reply handler.
void write_async_traits(const Spelling& spelling, DefId interface_id, Text& out);

}  // namespace corelane::idl::cxx
