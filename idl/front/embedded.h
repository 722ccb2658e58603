// The IDL files that are part of the compiler. Their one source is idl/include/; the build turns it into text.
#pragma once

#include <optional>
#include <string_view>

namespace corelane::idl {

// The text of a file that users include, such as "corelane/rt.idl"; nothing for any other name.
std::optional<std::string_view> embedded_source(std::string_view name);

// corelane/annotations.idl, which nobody includes: what it declares is always known.
std::string_view standard_annotations();

// orb.idl.
std::string_view standard_orb();

}  // namespace corelane::idl
