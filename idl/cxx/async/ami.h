// Implied IDL of asynchronous calls: makes a reply handler AMI_FooHandler for each interface Foo.
// CORBA 3.3 part 1, 22.9.
#pragma once

#include "idl/model/model.h"

namespace corelane::idl::cxx {

// Returns the model of fooAmi.idl, which includes foo.idl, the main file of `model`. It has a handler for each
// interface that is not local, right after the interface in the list of definitions. Interface::replies_of of a handler
// names the interface. A handler has two operations for each call of calls_of(): its reply and its exception.
Model with_reply_handlers(const Model& model);

}  // namespace corelane::idl::cxx
