// The keywords of IDL.
#pragma once

#include <string_view>

namespace corelane::idl {

// Returns the keyword that `word` is, or differs from only in case; "" for any other word.
// IDL 4.2, 7.2.4: declared names must differ from every keyword in more than case. Words that only newer building
// blocks reserve (component, map, port, int8, ...) are not keywords, since older IDL uses them as names. The parser
// recognizes them by their position.
std::string_view keyword_like(std::string_view word);

// Returns whether the keyword came with CORBA 2.3 or later. Older IDL has names that differ from it only in case.
bool is_late_keyword(std::string_view keyword);

}  // namespace corelane::idl
