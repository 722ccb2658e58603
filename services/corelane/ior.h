// What `corelane ior` does, apart from its options: shows what a reference says.
// Threads: none of its own; reads files.
#pragma once

#include <iosfwd>
#include <string>

#include "services/corelane/format.h"
#include "services/corelane/reference_text.h"

namespace corelane::tool {

std::string text_of(const ReferenceParts& parts, Format format);

// `what` is a reference, the name of a file that holds one (also as file://), or "-" for standard input.
// 0: it is sound; 1: it is none, a profile of it is damaged, or the file cannot be read.
int show_reference(const std::string& what, Format format, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace corelane::tool
