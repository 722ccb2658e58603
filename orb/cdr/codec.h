// encode() and decode() convert values to and from CDR. Generated code overloads them for its types and calls them for
// their members. All overloads are found by their Writer or Reader argument (this namespace) or by the value (the
// user's namespace). So a sequence of a user's struct needs only the struct's own pair.
//
//   void encode(Writer&, const T&);   failures stay in the Writer
//   bool decode(Reader&, T&);         returns false if the Reader failed; the value is then valid but unspecified
//
// Threads: none. A decoded container never grows beyond what its bytes can hold, and reuses its memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "orb/base/minor.h"
#include "orb/cdr/long_double.h"
#include "orb/cdr/reader.h"
#include "orb/cdr/text.h"
#include "orb/cdr/wide.h"
#include "orb/cdr/writer.h"

namespace corelane::cdr {

// The least number of bytes of an encoded T, which bounds a sequence's count. A lower bound is enough: generated code
// specializes it for structs without bytes only; for others it is 1.
template <typename T>
inline constexpr std::size_t min_encoded_size = std::is_enum_v<T> || Primitive<T> ? sizeof(T) : 1;
template <>
inline constexpr std::size_t min_encoded_size<std::string> = 4;  // its length, which may be 0
template <>
inline constexpr std::size_t min_encoded_size<std::wstring> = 4;
template <>
inline constexpr std::size_t min_encoded_size<long double> = 16;
template <typename T>
inline constexpr std::size_t min_encoded_size<std::vector<T>> = 4;
template <typename T, std::size_t n>
inline constexpr std::size_t min_encoded_size<std::array<T, n>> = n* min_encoded_size<T>;

template <Primitive T>
void encode(Writer& writer, T value) {
  writer.write(value);
}
template <Primitive T>
bool decode(Reader& reader, T& value) noexcept {
  return reader.read(value);
}

inline void encode(Writer& writer, std::string_view text) { write_text(writer, text); }
inline void encode(Writer& writer, const std::string& text) { write_text(writer, text); }
inline bool decode(Reader& reader, std::string& text) { return read_text(reader, text); }

// Enumerations are encoded as ulong; `count` is the number of enumerators, whose values ascend from 0.
template <typename Enum>
requires std::is_enum_v<Enum>
void write_enum(Writer& writer, Enum value) { writer.write(static_cast<std::uint32_t>(value)); }
template <typename Enum>
requires std::is_enum_v<Enum>
bool read_enum(Reader& reader, Enum& value, std::uint32_t count) noexcept {
  std::uint32_t number = 0;
  if (!reader.read(number)) return false;
  if (number >= count) return reader.fail(minor::bad_enum);
  value = static_cast<Enum>(number);
  return true;
}

// The same for enumerators with explicit values: the encoded value is the index in the table.
template <typename Enum, std::size_t n>
void write_enum(Writer& writer, Enum value, const Enum (&table)[n]) {
  for (std::uint32_t i = 0; i < n; ++i)
    if (table[i] == value) return writer.write(i);
  writer.fail(ErrorKind::bad_param, minor::bad_enum);
}
template <typename Enum, std::size_t n>
bool read_enum(Reader& reader, Enum& value, const Enum (&table)[n]) noexcept {
  std::uint32_t number = 0;
  if (!reader.read(number)) return false;
  if (number >= n) return reader.fail(minor::bad_enum);
  value = table[number];
  return true;
}

// Bitmasks and bitsets are encoded as the smallest unsigned type that holds them; a bit outside `mask` is refused.
template <typename Holder, typename T>
bool read_bits(Reader& reader, T& value, std::uint64_t mask) noexcept {
  Holder bits = 0;
  if (!reader.read(bits)) return false;
  if ((bits & ~mask) != 0) return reader.fail(minor::bad_enum);
  value = static_cast<T>(bits);
  return true;
}

// Reads a field of a bitset: `count` bits from `position` on. A signed field is sign-extended. set_bits_at() cuts off
// bits that do not fit.
template <typename T, unsigned position, unsigned count>
constexpr T bits_at(std::uint64_t bits) noexcept {
  const std::uint64_t field = bits << (64 - position - count);
  if constexpr (std::is_same_v<T, bool>)
    return field >> 63 != 0;
  else if constexpr (std::is_signed_v<T>)
    return static_cast<T>(static_cast<std::int64_t>(field) >> (64 - count));
  else
    return static_cast<T>(field >> (64 - count));
}
template <unsigned position, unsigned count, typename T>
constexpr void set_bits_at(std::uint64_t& bits, T value) noexcept {
  constexpr std::uint64_t mask = ~std::uint64_t{0} >> (64 - count) << position;
  bits = (bits & ~mask) | ((static_cast<std::uint64_t>(value) << position) & mask);
}

// Assigns a block to a vector of one-byte elements. Does not write zeros first, as resize() would.
template <Primitive T>
requires(sizeof(T) == 1) void assign_block(std::vector<T>& values, Bytes block) {
  if (values.capacity() < block.size()) {
    values.clear();
    values.reserve(block.size());
  }
  if (is_slow_memcpy(values.data(), block.data(), block.size())) {
    values.resize(block.size());
    copy_bytes(values.data(), block.data(), block.size());
  } else {
    const auto* const first = reinterpret_cast<const T*>(block.data());
    values.assign(first, first + block.size());
  }
}

// Reads `count` values of one byte into a vector, piece by piece as they come.
template <Primitive T>
requires(sizeof(T) == 1) bool assign_arriving(Reader& reader, std::vector<T>& values, std::size_t count) {
  values.clear();
  values.reserve(count);
  for (Bytes piece; values.size() < count;) {  // bound: count
    if (!reader.read_arriving(piece, count - values.size())) return false;
    const auto* const first = reinterpret_cast<const T*>(piece.data());
    values.insert(values.end(), first, first + piece.size());
  }
  return true;
}

// Sequences of primitives: one block.
template <Primitive T>
requires(!std::same_as<T, bool>) void encode(Writer& writer, const std::vector<T>& values) {
  writer.write_length(values.size());
  writer.write_block(values.data(), values.size());
}
template <Primitive T>
requires(!std::same_as<T, bool>) bool decode(Reader& reader, std::vector<T>& values) {
  std::uint32_t count = 0;
  if (!reader.read_length(count, sizeof(T))) return false;
  // read_length() has checked that count * sizeof(T) bytes have arrived. They lie here, except those in later chunks.
  if constexpr (sizeof(T) == 1) {
    Bytes block;
    if (count <= reader.remaining()) return reader.read_bytes(block, count) && (assign_block(values, block), true);
    if (reader.is_arriving()) return assign_arriving(reader, values, count);
  }
  values.resize(count);
  return reader.read_block(values.data(), count);
}

// encode_lasting() is encode() for an argument that its owner does not change until the message has been sent. A long
// sequence at the end of the message is not copied. A type without an overload of its own is copied.
template <typename T>
void encode_lasting(Writer& writer, const T& value) {
  encode(writer, value);
}
template <Primitive T>
requires(!std::same_as<T, bool>) void encode_lasting(Writer& writer, const std::vector<T>& values) {
  writer.write_length(values.size());
  writer.write_lasting(values.data(), values.size());
}

inline void encode(Writer& writer, const std::vector<bool>& values) {
  writer.write_length(values.size());
  for (const bool value : values) writer.write(value);
}
inline bool decode(Reader& reader, std::vector<bool>& values) {
  std::uint32_t count = 0;
  if (!reader.read_length(count, 1)) return false;
  values.assign(count, false);  // read_length() has checked: one byte each has arrived
  for (std::uint32_t i = 0; i < count; ++i) {
    bool value = false;
    if (!reader.read(value)) return false;
    values[i] = value;
  }
  return true;
}

// Sequences of other types, element by element. The vector doubles as elements arrive, so a large count alone allocates
// nothing, however large an element is in memory.
template <typename T>
void encode(Writer& writer, const std::vector<T>& values) {
  writer.write_length(values.size());
  for (const T& value : values) encode(writer, value);
}
template <typename T>
bool decode(Reader& reader, std::vector<T>& values) {
  const Reader::Level level(reader);
  std::uint32_t count = 0;
  if (!level || !reader.read_length(count, min_encoded_size<T>)) return false;
  if (values.size() > count) values.resize(count);
  for (std::uint32_t i = 0; i < count; ++i) {  // bound: read_length()
    if (i == values.size()) values.emplace_back();
    if (!decode(reader, values[i])) return false;
  }
  return true;
}

// Arrays have no count; those of primitives are one block.
template <Primitive T, std::size_t n>
requires(!std::same_as<T, bool>) void encode(Writer& writer, const std::array<T, n>& values) {
  writer.write_block(values.data(), n);
}
template <Primitive T, std::size_t n>
requires(!std::same_as<T, bool>) bool decode(Reader& reader, std::array<T, n>& values) noexcept {
  return reader.read_block(values.data(), n);
}
template <typename T, std::size_t n>
void encode(Writer& writer, const std::array<T, n>& values) {
  for (const T& value : values) encode(writer, value);
}
template <typename T, std::size_t n>
bool decode(Reader& reader, std::array<T, n>& values) {
  for (T& value : values)
    if (!decode(reader, value)) return false;
  return true;
}

}  // namespace corelane::cdr
