// IDL::traits<T> describes an IDL type for generic code. IDL to C++11, 6.28.
//
//   value_type, in_type, out_type, inout_type     how values are stored and passed
//   is_bounded, bound, element_traits             strings, sequences, maps; bound only if there is one
//   dimensions                                    arrays: number of dimensions
//   write(value)                                  to print: out << IDL::traits<T>::write(value); see print.h
// Generated code specializes it for interfaces and value types, with ref_type, weak_ref_type and narrow().
// Threads: types only.
#pragma once

#include "orb/base/language.h"

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace IDL {

// A value to be written to a stream. Holds a reference, so do not store it.
template <typename T>
struct Written {
  const T& value;
};

template <typename T>
struct value_traits {
  using value_type = T;
  using in_type = std::conditional_t<std::is_arithmetic_v<T> || std::is_enum_v<T>, T, const T&>;
  using out_type = T&;
  using inout_type = T&;
  using is_bounded = std::false_type;

  static Written<T> write(const T& value) { return {value}; }
};

template <typename T>
struct traits : value_traits<T> {};

// Enumerations and bitmasks. Generated code specializes it if @bit_bound differs from the width of the C++ type.
template <typename T>
requires std::is_enum_v<T>
struct traits<T> : value_traits<T> {
  using bit_bound = std::integral_constant<std::uint16_t, 8 * sizeof(T)>;
};

// The result of a & b for bitmasks: a mask. In a condition it is true if any bit is set.
template <typename Mask>
class bits {
 public:
  constexpr bits(Mask mask) noexcept : mask_(mask) {}
  constexpr operator Mask() const noexcept { return mask_; }
  explicit constexpr operator bool() const noexcept { return mask_ != Mask{}; }

 private:
  Mask mask_;
};

template <typename T>
struct traits<std::vector<T>> : value_traits<std::vector<T>> {
  using element_traits = traits<T>;
};

template <typename T, std::size_t n>
struct traits<std::array<T, n>> : value_traits<std::array<T, n>> {
  using element_traits = traits<T>;
  using dimensions = std::integral_constant<std::uint32_t, 1>;
};
template <typename T, std::size_t m, std::size_t n>
struct traits<std::array<std::array<T, m>, n>> : value_traits<std::array<std::array<T, m>, n>> {
  using element_traits = typename traits<std::array<T, m>>::element_traits;
  using dimensions = std::integral_constant<std::uint32_t, traits<std::array<T, m>>::dimensions::value + 1>;
};

}  // namespace IDL
