#include "orb/cdr/text.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "orb/base/minor.h"

namespace corelane::cdr {
namespace {

// CORBA 3.3 part 1, A.5: the transmission code set lacks a character.
constexpr std::uint32_t not_in_code_set = minor::omg | 1;

constexpr unsigned octet(char c) noexcept { return static_cast<unsigned char>(c); }

bool is_first_of_character(char c) noexcept { return (octet(c) & 0xc0) != 0x80; }

// Returns whether a character is above U+00FF, by a byte of well-formed UTF-8.
bool is_beyond_iso_8859_1(char c) noexcept { return octet(c) > 0xc3; }

void write_as_iso_8859_1(Writer& writer, std::string_view text) {
  if (std::any_of(text.begin(), text.end(), is_beyond_iso_8859_1))
    return writer.fail(ErrorKind::data_conversion, not_in_code_set);
  if (text.find('\0') != text.npos) return writer.fail(ErrorKind::bad_param, minor::string_has_nul);
  writer.write_length(static_cast<std::size_t>(std::count_if(text.begin(), text.end(), is_first_of_character)) + 1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned c = octet(text[i]);
    if (c >= 0x80) c = (c << 6 & 0xc0) | (octet(text[++i]) & 0x3f);
    writer.write(static_cast<std::uint8_t>(c));
  }
  writer.write(std::uint8_t{0});
}

void append_as_utf8(std::string_view iso_8859_1, std::string& text) {
  for (const char c : iso_8859_1) {
    if (octet(c) < 0x80) {
      text += c;
    } else {
      text += static_cast<char>(0xc0 | octet(c) >> 6);
      text += static_cast<char>(0x80 | (octet(c) & 0x3f));
    }
  }
}

// Converts `text` from the message's code set to UTF-8.
bool convert(Reader& reader, std::string& text) {
  if (reader.code_sets().chars == CharForm::utf_8)
    return is_utf8(text) || reader.fail(ErrorKind::data_conversion, minor::not_utf_8);
  std::string converted;
  converted.reserve(text.size() * 2);
  append_as_utf8(text, converted);
  text = std::move(converted);
  return true;
}

}  // namespace

void write_text(Writer& writer, std::string_view text) {
  if (writer.code_sets().chars == CharForm::native || is_ascii(text)) return writer.write_string(text);
  writer.note_code_set();
  if (!is_utf8(text)) return writer.fail(ErrorKind::data_conversion, minor::not_utf_8);
  return writer.code_sets().chars == CharForm::utf_8 ? writer.write_string(text) : write_as_iso_8859_1(writer, text);
}

// Checks the copy, because the sender may still write the memory of the message.
bool read_text(Reader& reader, std::string& text) {
  std::string_view view;
  if (!reader.read_string(view)) return false;
  text.assign(view);
  return reader.code_sets().chars == CharForm::native || is_ascii(text) || convert(reader, text);
}

bool read_text(Reader& reader, std::string_view& text, std::string& room) {
  if (!reader.read_string(text)) return false;
  if (reader.code_sets().chars == CharForm::native || is_ascii(text)) return true;
  room.assign(text);
  if (!convert(reader, room)) return false;
  text = room;
  return true;
}

bool is_ascii(std::string_view text) noexcept {
  constexpr std::uint64_t high_bits = 0x8080'8080'8080'8080;
  std::uint64_t seen = 0, word = 0;
  while (text.size() >= sizeof word) {
    std::memcpy(&word, text.data(), sizeof word);
    seen |= word;
    text.remove_prefix(sizeof word);
  }
  for (const char c : text) seen |= octet(c);
  return (seen & high_bits) == 0;
}

bool is_utf8(std::string_view text) noexcept {
  const auto at = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  for (std::size_t i = 0; i < text.size();) {
    const unsigned lead = at(i);
    const std::size_t size = lead < 0x80   ? 1
                             : lead < 0xc2 ? 0
                             : lead < 0xe0 ? 2
                             : lead < 0xf0 ? 3
                             : lead < 0xf5 ? 4
                                           : 0;
    if (size == 0) return false;
    for (std::size_t k = 1; k < size; ++k)
      if ((at(i + k) & 0xc0) != 0x80) return false;
    const unsigned second = at(i + 1);
    if (lead == 0xe0 && second < 0xa0) return false;  // longer than necessary
    if (lead == 0xed && second > 0x9f) return false;  // surrogates
    if (lead == 0xf0 && second < 0x90) return false;
    if (lead == 0xf4 && second > 0x8f) return false;  // beyond U+10FFFF
    i += size;
  }
  return true;
}

}  // namespace corelane::cdr
