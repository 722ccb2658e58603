// Skips, copies and prints values whose type is known only as data, by their TypeDesc. A value type is read by its
// declared type or by one that has a factory. Custom values are skipped, or copied by their own class.
//
// Threads: none. Bound: 64 levels, and a number of steps proportional to the bytes at hand. So a type without bytes (an
// array of empty structures) costs little.
#pragma once

#include <iosfwd>

#include "orb/any/type.h"
#include "orb/cdr/reader.h"
#include "orb/cdr/writer.h"

namespace corelane::any {

// Reads one value. With `out`, also writes it there, in that writer's byte order, alignment and form. Returns false
// with a failed reader if the value is malformed. A failure of the writer stays in the writer.
bool transfer(cdr::Reader& reader, const TypeDesc& type, cdr::Writer* out);
inline bool skip(cdr::Reader& reader, const TypeDesc& type) { return transfer(reader, type, nullptr); }
// The same. `saw_values`: it read an instance of a value type. Indirections may connect such a value to the rest of its
// message. transfer() removes the indirections: it also writes the values to which they refer.
bool skip(cdr::Reader& reader, const TypeDesc& type, bool& saw_values);

// Reads one value and prints it: Point{x = 1, label = "a"}, [1, 2], red, any(long 7).
bool print(std::ostream& out, cdr::Reader& reader, const TypeDesc& type);

// Returns the member that this discriminator selects; null for none.
const MemberDesc* selected(const TypeDesc& type, std::int64_t label) noexcept;

// Returns a lower bound of a value's bytes; 0 if it may take none, or if its type has too many parts without bytes.
std::size_t least_size(const TypeDesc& type) noexcept;

}  // namespace corelane::any
