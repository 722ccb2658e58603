// Handles words in a text before preprocessing: words in conditions, and words that a line break splits.
//
// Threads: any; pure functions.
#pragma once

#include <string>
#include <string_view>

namespace corelane::idl {

bool starts_name(char c);
// Returns the name or number at the front of the text; may be "".
std::string_view leading_name(std::string_view text);

// Replaces the words of C++ in the condition of an #if or #elif: `true` becomes 1, `not` becomes `!`. The preprocessor
// library knows only the words of C. Columns do not change.
std::string condition_in_c(std::string directive);

// Replaces the backslash of a line that ends inside a token; a blank may follow it.
inline constexpr char splice = '\x01';
// Returns whether the characters before and after the end of a line belong to one token.
bool is_one_token(char before, char after);
// Moves the second part of each split token up to its first part.
void join_spliced_tokens(std::string& text);

}  // namespace corelane::idl
