// Values whose type is known as data only: skipped, copied and printed by their TypeDesc. Of value types it is the
// declared one or one that has a factory; custom ones are skipped, and copied by their own class.
//
// Threads: none. Bound: 64 levels, and a number of steps in proportion to the bytes at hand, so that a type of no size
// (an array of empty structures) costs nothing much.
#pragma once

#include <iosfwd>

#include "orb/any/type.h"
#include "orb/cdr/reader.h"
#include "orb/cdr/writer.h"

namespace corelane::any {

// Reads one value. With `out` it is written there too, in that writer's byte order, alignment and form. False and a
// failed reader for what is malformed; a failure of the writer stays with the writer.
bool transfer(cdr::Reader& reader, const TypeDesc& type, cdr::Writer* out);
inline bool skip(cdr::Reader& reader, const TypeDesc& type) { return transfer(reader, type, nullptr); }
// The same; and whether there was a value of a value type, which indirections may tie to the rest of its message.
// transfer() unties it: what the value refers to is written with it.
bool skip(cdr::Reader& reader, const TypeDesc& type, bool& saw_values);

// Reads one value and prints it: Point{x = 1, label = "a"}, [1, 2], red, any(long 7).
bool print(std::ostream& out, cdr::Reader& reader, const TypeDesc& type);

// The member of a union that this discriminator selects; null for none.
const MemberDesc* selected(const TypeDesc& type, std::int64_t label) noexcept;

// A lower bound of the bytes that a value takes; 0 where it may take none.
std::size_t least_size(const TypeDesc& type, int depth = 0) noexcept;

}  // namespace corelane::any
