// Writes texts as C++ string literals.
#pragma once

#include <string>
#include <string_view>

namespace corelane::idl::cxx {

// Returns the literal, with escapes for all bytes but printable ASCII. It has no trigraph.
std::string string_literal(std::string_view text);
// Returns the literal for a compiler's message, as in static_assert. There C++26 forbids numeric escapes, so other
// bytes stay as they are.
std::string message_literal(std::string_view text);

}  // namespace corelane::idl::cxx
