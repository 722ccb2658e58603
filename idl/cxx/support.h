// Finds what this back end cannot write. The model can express the whole language. support.cpp has a check for each
// construct that is not supported yet. Also reports clashing names of asynchronous calls.
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

// Returns all uses of such constructs in the main file. generate() requires a model that has none.
std::vector<Unsupported> unsupported_in(const Model& model, const Options& options = {});

}  // namespace corelane::idl::cxx
