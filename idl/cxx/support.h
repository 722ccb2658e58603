// What this back end cannot write yet. The model holds the whole language; each construct that is missing here has a
// row in support.cpp, which goes when the construct comes. Also the names that asynchronous calls cannot have.
#pragma once

#include <string>
#include <vector>

#include "idl/cxx/generate.h"
#include "idl/model/model.h"

namespace corelane::idl::cxx {

struct Unsupported {
  Place place;
  std::string message;
};

// All uses in the main file, those of types in order. generate() wants a model without any.
std::vector<Unsupported> unsupported_in(const Model& model, const Options& options = {});

}  // namespace corelane::idl::cxx
