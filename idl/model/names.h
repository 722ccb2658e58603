// Names of the things of a model, as IDL writes them: for messages and for printing.
#pragma once

#include <string>
#include <string_view>

#include "idl/model/model.h"

namespace corelane::idl {

// "sequence<Plant::Sample, 4>". A type that is only declared forward so far has the name of its declaration.
std::string type_name(const Model& model, TypeId type);

// "struct", "typedef"...: the word that begins such a definition.
std::string_view keyword_of(DefinitionKind kind);

}  // namespace corelane::idl
