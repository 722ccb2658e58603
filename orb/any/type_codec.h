// TypeCodes on the wire. CORBA 3.3 part 2, 9.3.5.1.
//
// Reading is in place and within limits: 64 levels, which count together with those of the value around it, and
// `most_nodes` types. An indirection leads back to a type that began in the same TypeCode; aliases of themselves are
// refused. Writing uses an indirection for a type with members that was written before, enclosing or not.
// Threads: none.
#pragma once

#include "orb/any/type.h"
#include "orb/cdr/reader.h"
#include "orb/cdr/writer.h"

namespace corelane::any {

inline constexpr std::size_t most_nodes = 16'384;

void encode(cdr::Writer& writer, const TypeCode& type);
bool decode(cdr::Reader& reader, TypeCode& type);

// Whether a union may choose by values of this type: an integer, boolean, character, octet or enumeration.
bool may_be_discriminator(const TypeDesc& type) noexcept;
// The value of a union's label or discriminator of this type, as a number; and back. Of other types: fails.
void write_label(cdr::Writer& writer, const TypeDesc& type, std::int64_t label);
bool read_label(cdr::Reader& reader, const TypeDesc& type, std::int64_t& label) noexcept;

}  // namespace corelane::any
