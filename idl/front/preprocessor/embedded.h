// The IDL files that are part of the compiler. Their sources are in idl/include/; the build embeds them as text.
#pragma once

#include <optional>
#include <string_view>

namespace corelane::idl {

// Returns the text of a file that users can include, such as "corelane/rt.idl"; nothing for any other name.
std::optional<std::string_view> embedded_source(std::string_view name);

// Returns corelane/annotations.idl. No file includes it; its declarations are always known.
std::string_view standard_annotations();

// Returns orb.idl.
std::string_view standard_orb();

}  // namespace corelane::idl
