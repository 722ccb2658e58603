// dump_json() returns the model as JSON, for people and for other back ends.
#pragma once

#include <string>

#include "idl/model/model.h"

namespace corelane::idl::tool {

std::string dump_json(const Model& model);

}  // namespace corelane::idl::tool
