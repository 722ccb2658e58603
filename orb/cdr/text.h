// Encodes strings: UTF-8 in std::string, on the wire in the code set of the message (Reader::code_sets()). CORBA 3.3
// part 2, 7.2.6 and 9.3.2.7. orb/giop/code_sets.h selects the code set.
//
//   UTF-8       unchanged, checked in both directions: DATA_CONVERSION, not_utf_8
//   ISO 8859-1  converted; a character above U+00FF is refused: DATA_CONVERSION, OMG minor 1
//
// A single char is a byte, and is encoded as that byte in every code set. Text of 7 bits is the same in all of them.
// Threads: none.
#pragma once

#include <string>
#include <string_view>

#include "orb/cdr/reader.h"
#include "orb/cdr/writer.h"

namespace corelane::cdr {

void write_text(Writer& writer, std::string_view text);
bool read_text(Reader& reader, std::string& text);
// The same. `text` refers to the message if it needs no conversion, else to `room`.
bool read_text(Reader& reader, std::string_view& text, std::string& room);

// Returns whether all bytes are below 0x80.
bool is_ascii(std::string_view text) noexcept;
// Returns whether the text is well-formed UTF-8: shortest forms, no surrogates, at most U+10FFFF.
bool is_utf8(std::string_view text) noexcept;

}  // namespace corelane::cdr
