// The implied IDL of asynchronous calls: for each interface Foo a reply handler AMI_FooHandler.
// CORBA 3.3 part 1, 22.9.
#pragma once

#include "idl/model/model.h"

namespace corelane::idl::cxx {

// The model of fooAmi.idl, which includes foo.idl, the main file of `model`, and holds the handlers of its interfaces
// but for local ones, each behind its interface. Interface::replies_of says whose they are; their operations are two
// for each call of calls_of(): its reply and its exception.
Model with_reply_handlers(const Model& model);

}  // namespace corelane::idl::cxx
