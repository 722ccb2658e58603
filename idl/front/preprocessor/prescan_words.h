// Handles words in a text before preprocessing.
//
// Threads: any; pure functions.
#pragma once

#include <string>
#include <string_view>

namespace corelane::idl {

bool starts_name(char c);
bool is_in_word(char c);
// Returns the name or number at the front of the text; may be "".
std::string_view leading_name(std::string_view text);

// Replaces the words of C++ in the condition of an #if or #elif: `true` becomes 1, `not` becomes `!`. The preprocessor
// library knows only the words of C. Columns do not change.
std::string condition_in_c(std::string directive);

}  // namespace corelane::idl
