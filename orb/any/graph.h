// Graph: owner of the types that are made at run time. Internal to orb/any.
// Threads: one while it is built, then immutable.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "orb/any/type.h"

namespace corelane::any {

struct Graph {
  // Each stays where it is while others are added.
  std::deque<TypeDesc> types;
  std::deque<std::string> texts;
  std::deque<std::vector<MemberDesc>> members;
  std::vector<std::shared_ptr<const void>> owners;  // of types of other graphs that these refer to

  std::string_view keep(std::string_view text) { return text.empty() ? std::string_view{} : texts.emplace_back(text); }
};

// Stands for the enclosing type of this id until that is made; never on the wire, never in a finished TypeCode.
inline constexpr Kind recursive_kind{0xffff'ffff};

}  // namespace corelane::any
