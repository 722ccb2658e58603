// `corelane ior` shows what a reference contains. The options are defined in ior_command.cpp.
// Threads: none of its own; reads files.
//
// The folder services/corelane/references takes references apart, and calls the objects that they name.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include "orb/base/expected.h"
#include "services/corelane/output/format.h"
#include "services/corelane/references/reference_text.h"

namespace corelane::tool {

std::string text_of(const ReferenceParts& parts, Format format);

// Returns the reference: `what` itself, the content of the file of this name (also as file://), or, for "-", the
// content of `in`. Never empty.
Expected<std::string, ReferenceFault> reference_of(const std::string& what, std::istream& in);
// Returns the same if it can be decoded. Otherwise the fault also says what was examined.
Expected<std::string, ReferenceFault> sound_reference_of(const std::string& what, std::istream& in);
// Returns the same, or nothing after a complaint that begins with "corelane <who>".
std::optional<std::string> read_reference(const std::string& who, const std::string& what, std::istream& in,
                                          std::ostream& err);

// Shows a reference. `what` is a reference, the name of a file with one (also as file://), or "-" for standard input.
// Returns 0 if it is sound; 1 if it is not a reference, a profile is damaged, or the file cannot be read.
int show_reference(const std::string& what, Format format, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace corelane::tool
