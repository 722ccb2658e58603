// What `corelane ior` does, apart from its options: shows what a reference says.
// Threads: none of its own; reads files.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include "orb/base/expected.h"
#include "services/corelane/format.h"
#include "services/corelane/reference_text.h"

namespace corelane::tool {

std::string text_of(const ReferenceParts& parts, Format format);

// The reference that `what` is, that the file of this name (also as file://) holds, or, for "-", that `in` holds.
// Never empty.
Expected<std::string, ReferenceFault> reference_of(const std::string& what, std::istream& in);
// The same, if it can be taken apart; else the fault says what was looked at, too.
Expected<std::string, ReferenceFault> sound_reference_of(const std::string& what, std::istream& in);
// The same; nothing when it complained, as "corelane <who>".
std::optional<std::string> read_reference(const std::string& who, const std::string& what, std::istream& in,
                                          std::ostream& err);

// `what` is a reference, the name of a file that holds one (also as file://), or "-" for standard input.
// 0: it is sound; 1: it is none, a profile of it is damaged, or the file cannot be read.
int show_reference(const std::string& what, Format format, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace corelane::tool
