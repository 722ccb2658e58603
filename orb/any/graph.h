// Graph owns types that are made at run time. Internal to orb/any.
// Threads: one while it is built, then immutable.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "orb/any/type.h"

namespace corelane::any {

struct Graph {
  // Deques, so that elements keep their addresses while others are added.
  std::deque<TypeDesc> types;
  std::deque<std::string> texts;
  std::deque<std::vector<MemberDesc>> members;
  std::deque<std::vector<std::uint32_t>> indexes;   // TypeDesc::by_label
  std::vector<std::shared_ptr<const void>> owners;  // owners of types in other graphs to which these types refer

  std::string_view keep(std::string_view text) { return text.empty() ? std::string_view{} : texts.emplace_back(text); }
};

// Sets the union's by_label. Returns false if two members have the same label; then selected() finds one of them.
bool index_labels(Graph& graph, TypeDesc& type);

// Represents the enclosing type of this id until that is made. It never occurs on the wire or in a finished TypeCode.
inline constexpr Kind recursive_kind{0xffff'ffff};

}  // namespace corelane::any
