#include "idl/sema/types/extents.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace corelane::idl {
namespace {

constexpr std::uint64_t endless = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t handle = 8;  // a pointer, or a type that begins with one

std::uint64_t size_of(TypeKind kind) noexcept {
  switch (kind) {
    case TypeKind::void_:
    case TypeKind::boolean:
    case TypeKind::octet:
    case TypeKind::character:
    case TypeKind::int8:
    case TypeKind::uint8:
    case TypeKind::structure:  // incomplete
    case TypeKind::union_:
    case TypeKind::bitmask:
    case TypeKind::bitset:
      return 1;
    case TypeKind::int16:
    case TypeKind::uint16:
      return 2;
    case TypeKind::wide_character:
    case TypeKind::int32:
    case TypeKind::uint32:
    case TypeKind::float32:
    case TypeKind::enumeration:
      return 4;
    default:
      return handle;
  }
}

}  // namespace

void Extent::add(const Extent& other) noexcept {
  bytes = other.bytes > endless - bytes ? endless : bytes + other.bytes;
  depth = std::max(depth, other.depth);
}

void Extent::cover(const Extent& other) noexcept {
  bytes = std::max(bytes, other.bytes);
  depth = std::max(depth, other.depth);
}

Extent Extent::times(std::uint64_t count) const noexcept {
  return {.bytes = bytes != 0 && count > endless / bytes ? endless : bytes * count, .depth = depth};
}

bool check_extent(const Extent& extent, const Span& at, Diagnostics& diagnostics) {
  const bool too_deep = extent.depth > Extent::deepest;
  if (too_deep) diagnostics.error(at, "types are nested too deeply");
  if (extent.bytes > Extent::most_bytes)
    diagnostics.error(at, "a value of this type takes more memory than a process can have (128 TiB)");
  return !too_deep && extent.bytes <= Extent::most_bytes;
}

// Returns the extent of the type. recursion: to types that were made earlier; the result for a type with elements is
// stored
Extent Extents::of(TypeId id) {
  id = model_[id].resolved;
  const Type& type = model_[id];
  if (const auto found = known_.find(id); found != known_.end()) return found->second;
  met_incomplete_ = met_incomplete_ || type.kind == TypeKind::structure || type.kind == TypeKind::union_;
  if (type.element == TypeId::none) return {.bytes = size_of(type.kind)};
  const bool met_before = std::exchange(met_incomplete_, false);
  Extent inside = of(type.element);
  if (type.key != TypeId::none) inside.depth = std::max(inside.depth, of(type.key).depth);
  Extent result = type.kind == TypeKind::array ? inside.times(type.bound) : Extent{.bytes = handle};
  result.depth = inside.depth + 1;
  if (!met_incomplete_) known_[id] = result;
  met_incomplete_ = met_incomplete_ || met_before;
  return result;
}

void Extents::define(TypeId type, Extent members) {
  known_[type] = {.bytes = std::max<std::uint64_t>(members.bytes, 1), .depth = members.depth + 1};
}

}  // namespace corelane::idl
