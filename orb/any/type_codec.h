// Encodes and decodes TypeCodes. CORBA 3.3 part 2, 9.3.5.1.
//
// Reading has limits: `most_nodes` types, and 64 levels, which include those of the value around the TypeCode. An
// indirection leads back to a type that began in the same TypeCode. A type that is an alias of itself is refused.
// Writing uses an indirection for a type with an id that was written before, enclosing or not.
// Threads: none.
#pragma once

#include "orb/any/type.h"
#include "orb/cdr/reader.h"
#include "orb/cdr/writer.h"

namespace corelane::any {

inline constexpr std::size_t most_nodes = 16'384;

void encode(cdr::Writer& writer, const TypeCode& type);
bool decode(cdr::Reader& reader, TypeCode& type);

// Returns whether this type may be a union's discriminator: an integer, boolean, character, octet or enumeration.
bool may_be_discriminator(const TypeDesc& type) noexcept;
// Write and read a union's label or discriminator of this type, as a number. They fail for other types.
void write_label(cdr::Writer& writer, const TypeDesc& type, std::int64_t label);
bool read_label(cdr::Reader& reader, const TypeDesc& type, std::int64_t& label) noexcept;

}  // namespace corelane::any
