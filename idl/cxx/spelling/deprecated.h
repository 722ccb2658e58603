// Writes @deprecated as an attribute of C++, and keeps the generated files free of the warnings that it causes.
#pragma once

#include <string>

#include "idl/cxx/spelling/text.h"
#include "idl/model/model.h"

namespace corelane::idl::cxx {

// Returns `[[deprecated("text")]]` if @deprecated is among the annotations, otherwise "".
std::string deprecated_attribute(const Annotations& annotations);
// Returns the name of a class, behind that attribute if the definition has one.
std::string attributed(const Definition& definition, const std::string& name);
// Writes the attribute of a function or data member on a line of its own. Writes nothing if it is "".
void write_attribute(const std::string& attribute, Text& out);

// Returns the text of a generated file. If anything in the model is deprecated, turns the compiler's warnings about it
// off inside the file, because generated code must use all definitions.
std::string allow_deprecated(const Model& model, const std::string& text);

}  // namespace corelane::idl::cxx
