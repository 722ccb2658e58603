// Extents computes how much memory a value of a type takes in C++, at least, and how deeply types are nested. Each type
// is examined once, when the types in it are known.
#pragma once

#include <cstdint>
#include <map>

#include "idl/ast/diagnostics.h"
#include "idl/ast/source.h"
#include "idl/model/model.h"

namespace corelane::idl {

struct Extent {
  std::uint64_t bytes = 0;  // saturates at the largest number
  std::uint32_t depth = 0;  // 0: nothing inside

  // Adds a type that is stored after the others, such as a member of a struct.
  void add(const Extent& other) noexcept;
  // Adds a type that is stored in the same place as the others, such as a member of a union.
  void cover(const Extent& other) noexcept;
  // Returns the extent of `count` values.
  Extent times(std::uint64_t count) const noexcept;

  // The largest address space of a process (128 TiB). Compilers have a limit not much higher.
  static constexpr std::uint64_t most_bytes = std::uint64_t{1} << 47;
  // Generated code and C++ compilers use recursion to follow nested types.
  static constexpr std::uint32_t deepest = 500;
};

// Reports a type that is too large or nested too deeply. Returns whether it is neither.
bool check_extent(const Extent& extent, const Span& at, Diagnostics& diagnostics);

class Extents {
 public:
  explicit Extents(const Model& model) : model_(model) {}

  Extent of(TypeId type);
  // Records the extent of a struct or union after its members were read.
  void define(TypeId type, Extent members);

 private:
  const Model& model_;
  std::map<TypeId, Extent> known_;  // of definitions, and of types with elements
  bool met_incomplete_ = false;     // the result must not be stored, since it is not final
};

}  // namespace corelane::idl
