// Words in a text that is not preprocessed yet: those of conditions, and those that a line break parts.
//
// Threads: any; pure functions.
#pragma once

#include <string>
#include <string_view>

namespace corelane::idl {

bool starts_name(char c);
// The name or number at the front of the text; may be empty.
std::string_view leading_name(std::string_view text);

// Returns an #if or #elif with what the words of C++ stand for in its condition: `true` is 1, `not` is `!`. The
// preprocessor library knows those of C. Columns stay as they are.
std::string condition_in_c(std::string directive);

// Stands for the backslash of a line that ends inside a token, perhaps with a blank behind it.
inline constexpr char splice = '\x01';
// Whether two characters on both sides of a line's end belong to one token.
bool is_one_token(char before, char after);
// Moves the second half of each token that goes on in the next line up to the first.
void join_spliced_tokens(std::string& text);

}  // namespace corelane::idl
