// Names of the contents of a model, as IDL spells them: for messages and for printing.
#pragma once

#include <string>
#include <string_view>

#include "idl/model/model.h"

namespace corelane::idl {

// Returns a name such as "sequence<Plant::Sample, 4>". A type that is only declared forward has the name of its
// declaration.
std::string type_name(const Model& model, TypeId type);

// Returns the word that begins such a definition: "struct", "typedef", ...
std::string_view keyword_of(DefinitionKind kind);

}  // namespace corelane::idl
