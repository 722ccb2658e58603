// desc_of<T> is the TypeDesc of a C++ type, at compile time. Generated code specializes it for its types; this header
// does it for containers. A type without a TypeDesc (a local interface, or a structure that holds one) cannot go into
// an Any.
// Threads: constants.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "orb/any/type.h"

namespace corelane::any {

template <typename T>
inline constexpr std::nullptr_t desc_of = nullptr;

// Tests the type of desc_of, because g++ 12 with -fsanitize=undefined cannot compare an address with null at compile
// time.
template <typename T>
concept Described = !std::is_same_v<decltype(desc_of<T>), const std::nullptr_t>;

// In CORBA, int8 has no TypeCode of its own: it is an octet.
template <>
inline constexpr const TypeDesc* desc_of<bool> = &basic::boolean;
template <>
inline constexpr const TypeDesc* desc_of<char> = &basic::char_;
template <>
inline constexpr const TypeDesc* desc_of<wchar_t> = &basic::wchar;
template <>
inline constexpr const TypeDesc* desc_of<std::int8_t> = &basic::octet;
template <>
inline constexpr const TypeDesc* desc_of<std::uint8_t> = &basic::octet;
template <>
inline constexpr const TypeDesc* desc_of<std::int16_t> = &basic::short_;
template <>
inline constexpr const TypeDesc* desc_of<std::uint16_t> = &basic::ushort;
template <>
inline constexpr const TypeDesc* desc_of<std::int32_t> = &basic::long_;
template <>
inline constexpr const TypeDesc* desc_of<std::uint32_t> = &basic::ulong;
template <>
inline constexpr const TypeDesc* desc_of<std::int64_t> = &basic::longlong;
template <>
inline constexpr const TypeDesc* desc_of<std::uint64_t> = &basic::ulonglong;
template <>
inline constexpr const TypeDesc* desc_of<float> = &basic::float_;
template <>
inline constexpr const TypeDesc* desc_of<double> = &basic::double_;
template <>
inline constexpr const TypeDesc* desc_of<long double> = &basic::longdouble;
template <>
inline constexpr const TypeDesc* desc_of<std::string> = &basic::string;
template <>
inline constexpr const TypeDesc* desc_of<std::wstring> = &basic::wstring;

template <typename T, std::uint32_t bound = 0>
inline constexpr TypeDesc sequence_desc{.kind = Kind::sequence, .content = desc_of<T>, .length = bound};
template <Described T>
inline constexpr const TypeDesc* desc_of<std::vector<T>> = &sequence_desc<T>;

template <typename T, std::size_t n>
inline constexpr TypeDesc array_desc{.kind = Kind::array, .content = desc_of<T>, .length = n};
template <Described T, std::size_t n>
inline constexpr const TypeDesc* desc_of<std::array<T, n>> = &array_desc<T, n>;

}  // namespace corelane::any
