// Calls: what a client can call and a servant must answer, operations and attributes alike.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "idl/cxx/spelling.h"

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
  bool overrides = false;           // a base of the class that it is asked for declares it as well

  bool returns() const { return result != TypeId::none; }
};

// Of an interface or value type, in order of declaration, operations first; a readonly attribute is one call, others
// are two.
std::vector<Call> calls_of(const Spelling& spelling, DefId id);
// What the class of a stub or skeleton declares: its own calls, and those of abstract interfaces that it does not get
// from one base alone.
std::vector<Call> class_calls_of(const Spelling& spelling, DefId interface_id);
// The same of a value type: its own calls and those of the interfaces that it or its bases support, but for abstract
// ones, which are bases of its class.
std::vector<Call> value_calls_of(const Spelling& spelling, DefId value_id);
std::vector<DefId> supported_abstract(const Model& model, DefId value_id);
// The interface whose servants values of this type can be: of those that it and its bases support, the one that derives
// from all others. None where there is no such, and for an abstract value type.
DefId served_by(const Model& model, DefId value_id);
// Of the stubs or skeletons of `interface_id` and its ancestors: the one whose declaration a call gets.
DefId class_of(const Model& model, DefId interface_id, const Call& call);
// With those of all ancestors, each once, in ascending order of their wire names.
std::vector<Call> all_calls_of(const Spelling& spelling, DefId interface_id);

// All ancestors in the order in which C++ constructs them as virtual bases: depth first, left to right.
std::vector<DefId> construction_order(const Model& model, DefId interface_id);

// Names of the arguments that go to the servant (in, inout), and those that come back (out, inout).
std::vector<std::string> sent(const Call& call);
std::vector<std::string> returned(const Call& call);

// Of the functions that an attribute has.
bool is_accessor(const Call& call);
// "_op_step", "_get_count": the root of the generator's own names for it, which no name in IDL can be.
std::string internal_name(const Call& call);
// "step", "get_count": the root of the names that asynchronous calls have.
std::string plain_name(const Call& call);
// `prefix` + `root`, with as many "ami_" between them as make it a name that is not taken; it is taken then.
std::string free_name(std::string_view prefix, std::string root, std::set<std::string>& taken);

// The arguments of the function as declared: "double reading", "::Demo::Point& state".
std::vector<std::string> parameters(const Spelling& spelling, const Call& call);
std::string result_type(const Spelling& spelling, const Call& call);

}  // namespace corelane::idl::cxx
