#include "orb/cdr/wide.h"

#include <array>
#include <optional>

#include "orb/base/minor.h"

namespace corelane::cdr {
namespace {

static_assert(sizeof(wchar_t) == 4, "std::wstring is UTF-32 here");

constexpr char32_t first_surrogate = 0xd800, second_surrogate = 0xdc00, past_surrogates = 0xe000;
constexpr std::uint16_t byte_order_mark = 0xfeff, turned_byte_order_mark = 0xfffe;
// CORBA 3.3 part 1, A.5: DATA_CONVERSION 1, a character that the transmission code set lacks; MARSHAL 5, GIOP 1.0.
constexpr std::uint32_t unmappable = minor::omg | 1;
constexpr std::uint32_t wide_in_giop_1_0 = minor::omg | 5;

// Returns why wide characters cannot be sent. CORBA 3.3 part 2, 7.2.6.1 and 7.2.6.2; part 1, A.5.
constexpr Error not_agreed(WideUse use) noexcept {
  switch (use) {
    case WideUse::no_component:
      return {ErrorKind::inv_objref, Completion::no, minor::omg | 2};
    case WideUse::not_offered:
      return {ErrorKind::inv_objref, Completion::no, minor::omg | 1};
    case WideUse::no_common_set:
      return {ErrorKind::codeset_incompatible, Completion::no, minor::omg | 1};
    default:
      return {ErrorKind::bad_param, Completion::no, minor::omg | 23};
  }
}

// Return whether wide data may be in this message; fail otherwise.
bool may_be_wide(Writer& writer) {
  if (writer.wide_form() == WideForm::none) return writer.fail(ErrorKind::marshal, wide_in_giop_1_0), false;
  if (writer.code_sets().wide == WideUse::agreed) return writer.ok();
  const Error error = not_agreed(writer.code_sets().wide);
  writer.fail(error.kind, error.minor);
  return false;
}
bool may_be_wide(Reader& reader) noexcept {
  if (reader.wide_form() == WideForm::none) return reader.fail(wide_in_giop_1_0);
  if (reader.code_sets().wide == WideUse::agreed) return reader.ok();
  const Error error = not_agreed(reader.code_sets().wide);
  return reader.fail(error.kind, error.minor);
}

constexpr bool is_surrogate(char32_t c) { return c >= first_surrogate && c < past_surrogates; }
constexpr bool is_character(char32_t c) { return c <= 0x10ffff && !is_surrogate(c); }
constexpr bool needs_pair(char32_t c) { return c >= 0x10000; }

// A text that begins with such a character needs a mark of its own before it; otherwise the reader takes the character
// for the mark.
constexpr bool looks_like_mark(wchar_t c) {
  return c == wchar_t{byte_order_mark} || c == wchar_t{turned_byte_order_mark};
}

struct Units {
  std::array<std::uint16_t, 2> unit{};
  std::size_t count = 0;
};

Units units_of(char32_t c) {
  if (!needs_pair(c)) return {{static_cast<std::uint16_t>(c)}, 1};
  const char32_t rest = c - 0x10000;
  return {{static_cast<std::uint16_t>(first_surrogate + (rest >> 10)),
           static_cast<std::uint16_t>(second_surrogate + (rest & 0x3ff))},
          2};
}

// Returns nothing if the two are no surrogate pair.
std::optional<char32_t> joined(std::uint16_t first, std::uint16_t second) {
  if (first >= second_surrogate || second < second_surrogate || second >= past_surrogates) return std::nullopt;
  return 0x10000 + ((char32_t{first} - first_surrogate) << 10) + (char32_t{second} - second_surrogate);
}

void write_big_endian(Writer& writer, std::uint16_t unit) {
  writer.write(static_cast<std::uint8_t>(unit >> 8));
  writer.write(static_cast<std::uint8_t>(unit & 0xff));
}

// UnitReader reads UTF-16 code units from bytes of GIOP 1.2. It removes the byte-order mark.
class UnitReader {
 public:
  explicit UnitReader(Bytes bytes) : bytes_(bytes) {
    if (bytes.size() < 2) return;
    const std::uint16_t first = peek();
    little_ = first == turned_byte_order_mark;
    if (first == byte_order_mark || first == turned_byte_order_mark) bytes_ = bytes_.subspan(2);
  }
  bool empty() const { return bytes_.empty(); }
  std::size_t left() const { return bytes_.size() / 2; }

  // Returns nothing for an invalid character. Call it only if not empty.
  std::optional<char32_t> next() {
    const auto first = next_unit();
    if (!first || !is_surrogate(*first)) return first;
    const auto second = next_unit();
    return second ? joined(*first, *second) : std::nullopt;
  }

 private:
  std::uint16_t peek() const {
    const auto a = static_cast<std::uint16_t>(bytes_[little_ ? 1 : 0]);
    const auto b = static_cast<std::uint16_t>(bytes_[little_ ? 0 : 1]);
    return static_cast<std::uint16_t>(a << 8 | b);
  }
  std::optional<std::uint16_t> next_unit() {
    if (bytes_.size() < 2) return std::nullopt;
    const std::uint16_t unit = peek();
    bytes_ = bytes_.subspan(2);
    return unit;
  }

  Bytes bytes_;
  bool little_ = false;
};

bool check(Writer& writer, char32_t c) {
  if (!is_character(c)) return writer.fail(ErrorKind::data_conversion, unmappable), false;
  return writer.ok();
}

bool read_counted(Reader& reader, wchar_t& value) noexcept {
  std::uint8_t length = 0;
  Bytes bytes;
  if (!reader.read(length) || !reader.read_bytes(bytes, length)) return false;
  UnitReader units(bytes);
  const auto c = units.empty() ? std::nullopt : units.next();
  if (!c || !units.empty()) return reader.fail(minor::bad_string);
  value = static_cast<wchar_t>(*c);
  return true;
}

bool read_fixed(Reader& reader, wchar_t& value) noexcept {
  std::uint16_t unit = 0;
  if (!reader.read(unit)) return false;
  if (is_surrogate(unit)) return reader.fail(minor::bad_string);
  value = static_cast<wchar_t>(unit);
  return true;
}

bool read_counted(Reader& reader, std::wstring& text) {
  Bytes bytes;
  if (!reader.read_octets(bytes)) return false;
  UnitReader units(bytes);
  text.clear();
  text.reserve(units.left());  // bounded by bytes that have arrived
  while (!units.empty()) {     // bound: as above
    const auto c = units.next();
    if (!c) return reader.fail(minor::bad_string);
    text += static_cast<wchar_t>(*c);
  }
  return true;
}

// Reads the next character of a string of GIOP 1.1; `left` is the number of units not yet read.
bool read_character(Reader& reader, std::uint32_t& left, char32_t& c) noexcept {
  std::uint16_t first = 0, second = 0;
  if (!reader.read(first)) return false;
  --left;
  c = first;
  if (!is_surrogate(first)) return c != 0 || reader.fail(minor::bad_string);
  if (left == 0) return reader.fail(minor::bad_string);
  if (!reader.read(second)) return false;
  --left;
  const auto pair = joined(first, second);
  if (!pair) return reader.fail(minor::bad_string);
  c = *pair;
  return true;
}

bool read_fixed(Reader& reader, std::wstring& text) {
  std::uint32_t count = 0;
  if (!reader.read_length(count, sizeof(std::uint16_t))) return false;
  text.clear();
  if (count == 0) return true;  // some ORBs omit the NUL of an empty string
  text.reserve(count);
  for (std::uint32_t left = count - 1; left > 0;) {  // bound: read_length()
    char32_t c = 0;
    if (!read_character(reader, left, c)) return false;
    text += static_cast<wchar_t>(c);
  }
  std::uint16_t nul = 0;
  return reader.read(nul) && (nul == 0 || reader.fail(minor::bad_string));
}

std::size_t units_in(const std::wstring& text) {
  std::size_t units = text.size();
  for (const wchar_t c : text) units += needs_pair(static_cast<char32_t>(c)) ? 1 : 0;
  return units;
}

void write_counted(Writer& writer, const std::wstring& text) {
  const bool needs_mark = !text.empty() && looks_like_mark(text.front());
  writer.write_length((units_in(text) + (needs_mark ? 1 : 0)) * 2);
  if (needs_mark) write_big_endian(writer, byte_order_mark);
  for (const wchar_t c : text) {
    if (!check(writer, static_cast<char32_t>(c))) return;
    const Units u = units_of(static_cast<char32_t>(c));
    for (std::size_t i = 0; i < u.count; ++i) write_big_endian(writer, u.unit[i]);
  }
}

void write_fixed(Writer& writer, const std::wstring& text) {
  writer.write_length(units_in(text) + 1);
  for (const wchar_t c : text) {
    if (c == 0) return writer.fail(ErrorKind::bad_param, minor::string_has_nul);
    if (!check(writer, static_cast<char32_t>(c))) return;
    const Units u = units_of(static_cast<char32_t>(c));
    for (std::size_t i = 0; i < u.count; ++i) writer.write(u.unit[i]);
  }
  writer.write(std::uint16_t{0});
}

}  // namespace

void encode(Writer& writer, wchar_t value) {
  const auto c = static_cast<char32_t>(value);
  if (!may_be_wide(writer) || !check(writer, c)) return;
  const Units units = units_of(c);
  if (writer.wide_form() == WideForm::fixed) {
    if (units.count > 1) return writer.fail(ErrorKind::data_conversion, unmappable);
    return writer.write(units.unit[0]);
  }
  const bool needs_mark = looks_like_mark(value);
  writer.write(static_cast<std::uint8_t>((units.count + (needs_mark ? 1 : 0)) * 2));
  if (needs_mark) write_big_endian(writer, byte_order_mark);
  for (std::size_t i = 0; i < units.count; ++i) write_big_endian(writer, units.unit[i]);
}

bool decode(Reader& reader, wchar_t& value) noexcept {
  if (!may_be_wide(reader)) return false;
  return reader.wide_form() == WideForm::fixed ? read_fixed(reader, value) : read_counted(reader, value);
}

void encode(Writer& writer, const std::wstring& text) {
  if (!may_be_wide(writer)) return;
  return writer.wide_form() == WideForm::fixed ? write_fixed(writer, text) : write_counted(writer, text);
}

bool decode(Reader& reader, std::wstring& text) {
  if (!may_be_wide(reader)) return false;
  return reader.wide_form() == WideForm::fixed ? read_fixed(reader, text) : read_counted(reader, text);
}

}  // namespace corelane::cdr
