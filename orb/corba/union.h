// What generated unions share. IDL to C++11, 6.12.
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

// The member that a union holds as this alternative; BAD_PARAM when it holds another.
template <std::size_t alternative, typename Variant>
auto& union_member(Variant& member) {
  auto* found = std::get_if<alternative>(&member);
  if (found == nullptr) raise_union_member();
  return *found;
}

}  // namespace corelane::core
