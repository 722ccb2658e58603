// Calls are what a client can call and a servant must implement: operations and attributes alike.
//
// The folder idl/cxx/calls has what a client can call, and the parts of C++ that write a call.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "idl/cxx/spelling/spelling.h"

namespace corelane::idl::cxx {

struct Argument {
  std::string name;
  TypeId type = TypeId::none;
  Direction direction = Direction::in;
};

struct Call {
  std::string wire_name;         // "step", "_get_count"
  std::string name;              // of the C++ function
  TypeId result = TypeId::none;  // none: void
  std::vector<Argument> arguments;
  bool oneway = false;
  bool has_context = false;  // names of context properties follow the arguments; Corelane sends none
  std::vector<DefId> raises;
  const TaskContract* contract = nullptr;
  DefId declared_in = DefId::none;  // the interface
  bool overrides = false;           // a base of the class declares it as well
  std::string attribute = {};       // of the C++ function: "" or `[[deprecated]]`

  bool returns() const { return result != TypeId::none; }
};

// Returns the calls of an interface or value type in order of declaration, operations first. A readonly attribute is
// one call; other attributes are two.
std::vector<Call> calls_of(const Spelling& spelling, DefId id);
// Returns what the class of a stub or skeleton declares: its own calls, and calls of abstract interfaces that it does
// not inherit from a single base.
std::vector<Call> class_calls_of(const Spelling& spelling, DefId interface_id);
// Returns what the class of a value type declares: its own calls, and those of the interfaces that it or its bases
// support. Calls of abstract interfaces are left out, since these are bases of the class.
std::vector<Call> value_calls_of(const Spelling& spelling, DefId value_id);
std::vector<DefId> supported_abstract(const Model& model, DefId value_id);
// Returns the interface that a value of this type can serve as a servant. Of the interfaces that it and its bases
// support, it is the one that derives from all others. Returns none if there is no such interface, and for an abstract
// value type.
DefId served_by(const Model& model, DefId value_id);
// Returns which class declares the function for a call, among the stubs or skeletons of `interface_id` and its
// ancestors.
DefId class_of(const Model& model, DefId interface_id, const Call& call);
// Returns the calls of the interface and of all ancestors, each once, sorted by their wire names.
std::vector<Call> all_calls_of(const Spelling& spelling, DefId interface_id);

// Returns all ancestors in the order in which C++ constructs them as virtual bases: depth first, left to right.
std::vector<DefId> construction_order(const Model& model, DefId interface_id);

// sent() returns the names of the arguments that go to the servant (in, inout), returned() of those that come back
// (out, inout).
std::vector<std::string> sent(const Call& call);
std::vector<std::string> returned(const Call& call);

// Returns whether the call reads or writes an attribute.
bool is_accessor(const Call& call);
// Returns the root of the generator's own names for the call: "_op_step", "_get_count". No name in IDL can be the same.
std::string internal_name(const Call& call);
// Returns the root of the names of its asynchronous calls: "step", "get_count".
std::string plain_name(const Call& call);
// Returns `prefix` + `root`, with as many "ami_" between them as needed for a name that is not in `taken`. Adds it to
// `taken`.
std::string free_name(std::string_view prefix, std::string root, std::set<std::string>& taken);

// Returns the parameters of the function's declaration: "double reading", "::Demo::Point& state".
std::vector<std::string> parameters(const Spelling& spelling, const Call& call);
std::string result_type(const Spelling& spelling, const Call& call);

}  // namespace corelane::idl::cxx
