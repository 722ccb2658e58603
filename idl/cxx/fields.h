// Fields: the members of a structure or an exception as the generated class has them.
#pragma once

#include <string>
#include <vector>

#include "idl/cxx/spelling.h"

namespace corelane::idl::cxx {

struct Field {
  std::string name;       // of its accessors
  std::string data;       // of the private member
  std::string parameter;  // of the constructor
  std::string type;
  bool scalar = false;
};

// `id` is a Structure or an Exception.
std::vector<Field> fields_of(const Spelling& spelling, DefId id);

// The constructor's parameters: all members by value, in order.
std::vector<std::string> constructor_parameters(const std::vector<Field>& fields);
// Its initialisers.
std::vector<std::string> initialisers(const std::vector<Field>& fields);

}  // namespace corelane::idl::cxx
