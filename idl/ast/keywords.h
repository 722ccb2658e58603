// The keywords of IDL.
#pragma once

#include <string_view>

namespace corelane::idl {

// The keyword that `word` is, or that it would be if its letters had another case; empty for a free word.
// IDL 4.2, 7.2.4: declared names differ from every keyword in more than case. Words that only newer building blocks
// reserve (component, map, port, int8 ...) are free, since older IDL uses them as names; the parser knows them by
// place.
std::string_view keyword_like(std::string_view word);

// Whether the keyword came with CORBA 2.3 or later, so that older IDL has names that differ from it in case only.
bool is_late_keyword(std::string_view keyword);

}  // namespace corelane::idl
