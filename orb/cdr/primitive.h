// Primitive: the C++ types that stand for CDR's fixed-size values, and their byte orders.
// CORBA 3.3 part 2, 9.3.1. A value of n bytes is aligned to n, counted from the start of its message or encapsulation.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace corelane::cdr {

template <typename T, typename... Others>
concept OneOf = (std::same_as<T, Others> || ...);

// boolean, char, octet and the integers and floats of 1, 2, 4 and 8 bytes. Wide characters and long double have
// encodings of their own.
template <typename T>
concept Primitive = std::is_arithmetic_v<T> && !OneOf<T, wchar_t, char8_t, char16_t, char32_t, long double>;

// How wide characters travel, which depends on the GIOP version; see wide.h.
enum class WideForm : std::uint8_t { none, fixed, counted };

// The code set in which strings travel; see text.h. `native` is UTF-8 without a check, for bytes that stay here.
enum class CharForm : std::uint8_t { native, utf_8, iso_8859_1 };
// Whether client and server have agreed on UTF-16 for wide characters, or what is missing; see wide.h.
enum class WideUse : std::uint8_t {
  agreed,
  no_component,   // the reference names no code sets
  not_offered,    // the reference names none for wide characters
  no_common_set,  // the two have none in common
  no_context,     // the client has named none
};
// The code sets of one message.
struct CodeSets {
  CharForm chars = CharForm::native;
  WideUse wide = WideUse::agreed;
  friend bool operator==(const CodeSets&, const CodeSets&) = default;
};

static_assert(sizeof(bool) == 1 && sizeof(float) == 4 && sizeof(double) == 8);

// Bytes to the next multiple of `alignment`, a power of two. Wraps rightly for positions before the origin.
constexpr std::size_t padding(std::size_t position, std::size_t alignment) noexcept {
  return (std::size_t{0} - position) & (alignment - 1);
}

template <std::size_t size>
struct RawOf;
template <>
struct RawOf<1> {
  using type = std::uint8_t;
  static constexpr type swapped(type v) noexcept { return v; }
};
template <>
struct RawOf<2> {
  using type = std::uint16_t;
  static constexpr type swapped(type v) noexcept { return __builtin_bswap16(v); }
};
template <>
struct RawOf<4> {
  using type = std::uint32_t;
  static constexpr type swapped(type v) noexcept { return __builtin_bswap32(v); }
};
template <>
struct RawOf<8> {
  using type = std::uint64_t;
  static constexpr type swapped(type v) noexcept { return __builtin_bswap64(v); }
};

// The bits of a value, turned round when `swap`; and back. Goes through an integer, since a float with its bytes turned
// round may be a signalling NaN that a register changes.
template <Primitive T>
typename RawOf<sizeof(T)>::type to_raw(T value, bool swap) noexcept {
  using Raw = RawOf<sizeof(T)>;
  const auto raw = std::bit_cast<typename Raw::type>(value);
  return swap ? Raw::swapped(raw) : raw;
}

template <Primitive T>
T from_raw(typename RawOf<sizeof(T)>::type raw, bool swap) noexcept {
  return std::bit_cast<T>(swap ? RawOf<sizeof(T)>::swapped(raw) : raw);
}

}  // namespace corelane::cdr
