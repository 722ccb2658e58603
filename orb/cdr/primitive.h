// Primitive is the concept of C++ types for CDR's fixed-size values. This header also converts their byte order. CORBA
// 3.3 part 2, 9.3.1. A value of n bytes is aligned to n, counted from the start of its message or encapsulation.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace corelane::cdr {

template <typename T, typename... Others>
concept OneOf = (std::same_as<T, Others> || ...);

// boolean, char, octet, and integers and floats of 1, 2, 4 and 8 bytes. Wide characters and long double have their own
// encodings.
template <typename T>
concept Primitive = std::is_arithmetic_v<T> && !OneOf<T, wchar_t, char8_t, char16_t, char32_t, long double>;

// How wide characters are encoded, which depends on the GIOP version; see wide.h.
enum class WideForm : std::uint8_t { none, fixed, counted };

// The code set of encoded strings; see text.h. `native` is UTF-8 without a check, for bytes that stay in this process.
enum class CharForm : std::uint8_t { native, utf_8, iso_8859_1 };
// Says whether client and server have agreed on UTF-16 for wide characters, or what is missing; see wide.h.
enum class WideUse : std::uint8_t {
  agreed,
  no_component,   // the reference names no code sets
  not_offered,    // the reference names no code set for wide characters
  no_common_set,  // client and server have none in common
  no_context,     // the client has named none
};
// The code sets of one message.
struct CodeSets {
  CharForm chars = CharForm::native;
  WideUse wide = WideUse::agreed;
  friend bool operator==(const CodeSets&, const CodeSets&) = default;
};

static_assert(sizeof(bool) == 1 && sizeof(float) == 4 && sizeof(double) == 8);

// Returns the bytes up to the next multiple of `alignment`, a power of two. Unsigned wrap-around makes it correct for
// positions before the origin, too.
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

// Convert a value to its bits and back, with reversed bytes if `swap`. The conversion uses an integer. A float with
// reversed bytes may be a signaling NaN, which a register would change.
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
