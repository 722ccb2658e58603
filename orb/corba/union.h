// Functions that generated unions share. IDL to C++11, 6.12.
// Threads: functions of their arguments.
#pragma once

#include "orb/base/language.h"

#include <variant>

#include "orb/base/minor.h"
#include "orb/core/exception.h"

namespace corelane::core {

[[noreturn]] inline void raise_union_member() {
  raise(Error{ErrorKind::bad_param, Completion::no, minor::union_member});
}

// Returns the union's member of this alternative; BAD_PARAM if the union holds another one.
template <std::size_t alternative, typename Variant>
auto& union_member(Variant& member) {
  auto* found = std::get_if<alternative>(&member);
  if (found == nullptr) raise_union_member();
  return *found;
}

}  // namespace corelane::core
