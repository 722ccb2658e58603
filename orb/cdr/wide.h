// Encodes wide characters and strings: UTF-16 on the wire, in the form of the GIOP version; UTF-32 in wchar_t and
// std::wstring. CORBA 3.3 part 2, 9.3.1.6 and 9.3.2.7.
//
//   GIOP 1.2   wchar: octet length in bytes, UTF-16. wstring: ulong length in bytes, UTF-16, no NUL.
//              Big endian unless a byte-order mark says otherwise; written without a mark, unless the text begins
//              with a character that looks like one.
//   GIOP 1.1   wchar: 2 bytes as an unsigned short. wstring: ulong count with the NUL, that many unsigned shorts.
//   GIOP 1.0   none: MARSHAL, OMG minor 5.
//
// They require that client and server have agreed on UTF-16 (Reader::code_sets()). Without that, a client's attempt is
// INV_OBJREF or CODESET_INCOMPATIBLE, and a server's BAD_PARAM.
//
// Threads: none. Refused: surrogates without their other half, lengths that do not fit, a NUL inside a string of 1.1.
#pragma once

#include <string>

#include "orb/cdr/reader.h"
#include "orb/cdr/writer.h"

namespace corelane::cdr {

void encode(Writer& writer, wchar_t value);
bool decode(Reader& reader, wchar_t& value) noexcept;

void encode(Writer& writer, const std::wstring& text);
bool decode(Reader& reader, std::wstring& text);

}  // namespace corelane::cdr
