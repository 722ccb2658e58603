// Reads and writes indirections of TypeCodes and values. CORBA 3.3 part 2, 9.3.4.1 and 9.3.5.1. Threads: none.
#pragma once

#include <cstddef>
#include <cstdint>

#include "orb/base/minor.h"
#include "orb/cdr/reader.h"
#include "orb/cdr/writer.h"

namespace corelane::any {

inline constexpr std::uint32_t indirection_tag = 0xffff'ffff;

// Reads an offset, which counts from its own position, and returns its target. Returns null with a failed reader if the
// offset is not valid. The caller knows what is at the target.
inline const std::byte* read_indirection(cdr::Reader& in) {
  const std::byte* const here = in.rest().data();
  std::int32_t offset = 0;
  if (!in.read(offset)) return nullptr;
  if (offset >= -4 || offset % 4 != 0) return in.fail(minor::bad_indirection), nullptr;
  // Computed as a number, because a target outside the message is not a valid pointer. The caller looks it up in a
  // table and finds nothing.
  const auto target = reinterpret_cast<std::uintptr_t>(here) + static_cast<std::uintptr_t>(std::intptr_t{offset});
  return reinterpret_cast<const std::byte*>(target);
}

// Writes a reference to the position `target` of the same message.
inline void write_indirection(cdr::Writer& writer, std::size_t target) {
  writer.write(indirection_tag);
  const auto here = static_cast<std::int64_t>(writer.size());
  writer.write(static_cast<std::int32_t>(static_cast<std::int64_t>(target) - here));
}

}  // namespace corelane::any
