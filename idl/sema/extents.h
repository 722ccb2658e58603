// Extents: how much memory a value of a type takes in C++, at least, and how deep types stand inside one another. Each
// type is looked at once, when what it holds is known.
#pragma once

#include <cstdint>
#include <map>

#include "idl/model/model.h"

namespace corelane::idl {

struct Extent {
  std::uint64_t bytes = 0;  // the largest number where it would be above that
  std::uint32_t depth = 0;  // 0: nothing is inside

  // Beside one another, as the members of a struct.
  void add(const Extent& other) noexcept;
  // In one another's place, as those of a union.
  void cover(const Extent& other) noexcept;
  // `count` of them.
  Extent times(std::uint64_t count) const noexcept;

  // What a process can address where pointers are largest; compilers end not far above.
  static constexpr std::uint64_t most_bytes = std::uint64_t{1} << 47;
  // Generated code and its compilers follow types into each other by recursion.
  static constexpr std::uint32_t deepest = 500;
};

class Extents {
 public:
  explicit Extents(const Model& model) : model_(model) {}

  Extent of(TypeId type);
  // Of a struct or union that was read: what its members come to.
  void define(TypeId type, Extent members);

 private:
  const Model& model_;
  std::map<TypeId, Extent> known_;  // of definitions, and of what holds others
  bool met_incomplete_ = false;     // so that it is to be looked at again
};

}  // namespace corelane::idl
