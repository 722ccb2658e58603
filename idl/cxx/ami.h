// The implied IDL of asynchronous calls: for each interface Foo a reply handler AMI_FooHandler.
// CORBA 3.3 part 1, 22.9.
#pragma once

#include <vector>

#include "idl/cxx/support.h"
#include "idl/model/model.h"

namespace corelane::idl::cxx {

// The model of fooAmi.idl, which includes foo.idl, the main file of `model`, and holds the handlers of its interfaces,
// each behind its interface. Interface::replies_of says whose they are; their operations are two for each call of
// class_calls_of(): its reply and its exception.
Model with_reply_handlers(const Model& model);

// The interfaces of the main file that inherit, from two bases, replies of one name: no operation of one base gives way
// to those of the other, which may stand in a file that knows nothing of it. One handler could not take both.
std::vector<Unsupported> clashing_replies(const Model& model);

}  // namespace corelane::idl::cxx
