// The C++ mapping of idl/include/corelane/orb.idl: sequences of the basic types, and names of CORBA that IDL may use.
// Generated code whose IDL uses them includes it. CORBA 3.3 part 1, 8.2; IDL to C++11, 6.
//
// Threads: constants and pure functions.
#pragma once

#include "orb/base/language.h"

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "orb/cdr/codec.h"
#include "orb/corba/any.h"
#include "orb/corba/typecode.h"

namespace CORBA {

using Identifier = std::string;
using RepositoryId = std::string;
using ScopedName = std::string;
using PolicyType = std::uint32_t;
using Flags = std::uint32_t;
using AnySeq = std::vector<Any>;
using BooleanSeq = std::vector<bool>;
using OctetSeq = std::vector<std::uint8_t>;
using CharSeq = std::vector<char>;
using WCharSeq = std::vector<wchar_t>;
using ShortSeq = std::vector<std::int16_t>;
using UShortSeq = std::vector<std::uint16_t>;
using LongSeq = std::vector<std::int32_t>;
using ULongSeq = std::vector<std::uint32_t>;
using LongLongSeq = std::vector<std::int64_t>;
using ULongLongSeq = std::vector<std::uint64_t>;
using FloatSeq = std::vector<float>;
using DoubleSeq = std::vector<double>;
using LongDoubleSeq = std::vector<long double>;
using StringSeq = std::vector<std::string>;
using WStringSeq = std::vector<std::wstring>;

namespace detail {

constexpr TypeCodeConstant alias_of(const ::corelane::any::TypeDesc& content, std::string_view id,
                                    std::string_view name) {
  return {{.kind = ::corelane::any::Kind::alias, .id = id, .name = name, .content = &content}};
}

template <const ::corelane::any::TypeDesc& element>
inline constexpr ::corelane::any::TypeDesc sequence_of{.kind = ::corelane::any::Kind::sequence, .content = &element};

}  // namespace detail

inline constexpr TypeCodeConstant _tc_Identifier =
    detail::alias_of(::corelane::any::basic::string, "IDL:omg.org/CORBA/Identifier:1.0", "Identifier");
inline constexpr TypeCodeConstant _tc_RepositoryId =
    detail::alias_of(::corelane::any::basic::string, "IDL:omg.org/CORBA/RepositoryId:1.0", "RepositoryId");
inline constexpr TypeCodeConstant _tc_ScopedName =
    detail::alias_of(::corelane::any::basic::string, "IDL:omg.org/CORBA/ScopedName:1.0", "ScopedName");
inline constexpr TypeCodeConstant _tc_PolicyType =
    detail::alias_of(::corelane::any::basic::ulong, "IDL:omg.org/CORBA/PolicyType:1.0", "PolicyType");
inline constexpr TypeCodeConstant _tc_Flags =
    detail::alias_of(::corelane::any::basic::ulong, "IDL:omg.org/CORBA/Flags:1.0", "Flags");
inline constexpr TypeCodeConstant _tc_AnySeq =
    detail::alias_of(detail::sequence_of<::corelane::any::basic::any>, "IDL:omg.org/CORBA/AnySeq:1.0", "AnySeq");
inline constexpr TypeCodeConstant _tc_BooleanSeq = detail::alias_of(
    detail::sequence_of<::corelane::any::basic::boolean>, "IDL:omg.org/CORBA/BooleanSeq:1.0", "BooleanSeq");
inline constexpr TypeCodeConstant _tc_OctetSeq =
    detail::alias_of(detail::sequence_of<::corelane::any::basic::octet>, "IDL:omg.org/CORBA/OctetSeq:1.0", "OctetSeq");
inline constexpr TypeCodeConstant _tc_CharSeq =
    detail::alias_of(detail::sequence_of<::corelane::any::basic::char_>, "IDL:omg.org/CORBA/CharSeq:1.0", "CharSeq");
inline constexpr TypeCodeConstant _tc_WCharSeq =
    detail::alias_of(detail::sequence_of<::corelane::any::basic::wchar>, "IDL:omg.org/CORBA/WCharSeq:1.0", "WCharSeq");
inline constexpr TypeCodeConstant _tc_ShortSeq =
    detail::alias_of(detail::sequence_of<::corelane::any::basic::short_>, "IDL:omg.org/CORBA/ShortSeq:1.0", "ShortSeq");
inline constexpr TypeCodeConstant _tc_UShortSeq = detail::alias_of(detail::sequence_of<::corelane::any::basic::ushort>,
                                                                   "IDL:omg.org/CORBA/UShortSeq:1.0", "UShortSeq");
inline constexpr TypeCodeConstant _tc_LongSeq =
    detail::alias_of(detail::sequence_of<::corelane::any::basic::long_>, "IDL:omg.org/CORBA/LongSeq:1.0", "LongSeq");
inline constexpr TypeCodeConstant _tc_ULongSeq =
    detail::alias_of(detail::sequence_of<::corelane::any::basic::ulong>, "IDL:omg.org/CORBA/ULongSeq:1.0", "ULongSeq");
inline constexpr TypeCodeConstant _tc_LongLongSeq = detail::alias_of(
    detail::sequence_of<::corelane::any::basic::longlong>, "IDL:omg.org/CORBA/LongLongSeq:1.0", "LongLongSeq");
inline constexpr TypeCodeConstant _tc_ULongLongSeq = detail::alias_of(
    detail::sequence_of<::corelane::any::basic::ulonglong>, "IDL:omg.org/CORBA/ULongLongSeq:1.0", "ULongLongSeq");
inline constexpr TypeCodeConstant _tc_FloatSeq =
    detail::alias_of(detail::sequence_of<::corelane::any::basic::float_>, "IDL:omg.org/CORBA/FloatSeq:1.0", "FloatSeq");
inline constexpr TypeCodeConstant _tc_DoubleSeq = detail::alias_of(detail::sequence_of<::corelane::any::basic::double_>,
                                                                   "IDL:omg.org/CORBA/DoubleSeq:1.0", "DoubleSeq");
inline constexpr TypeCodeConstant _tc_LongDoubleSeq = detail::alias_of(
    detail::sequence_of<::corelane::any::basic::longdouble>, "IDL:omg.org/CORBA/LongDoubleSeq:1.0", "LongDoubleSeq");
inline constexpr TypeCodeConstant _tc_StringSeq = detail::alias_of(detail::sequence_of<::corelane::any::basic::string>,
                                                                   "IDL:omg.org/CORBA/StringSeq:1.0", "StringSeq");
inline constexpr TypeCodeConstant _tc_WStringSeq = detail::alias_of(
    detail::sequence_of<::corelane::any::basic::wstring>, "IDL:omg.org/CORBA/WStringSeq:1.0", "WStringSeq");

namespace detail {
inline constexpr ::corelane::any::MemberDesc names_of_kinds[] = {
    {"tk_null"},           {"tk_void"},       {"tk_short"},
    {"tk_long"},           {"tk_ushort"},     {"tk_ulong"},
    {"tk_float"},          {"tk_double"},     {"tk_boolean"},
    {"tk_char"},           {"tk_octet"},      {"tk_any"},
    {"tk_TypeCode"},       {"tk_Principal"},  {"tk_objref"},
    {"tk_struct"},         {"tk_union"},      {"tk_enum"},
    {"tk_string"},         {"tk_sequence"},   {"tk_array"},
    {"tk_alias"},          {"tk_except"},     {"tk_longlong"},
    {"tk_ulonglong"},      {"tk_longdouble"}, {"tk_wchar"},
    {"tk_wstring"},        {"tk_fixed"},      {"tk_value"},
    {"tk_value_box"},      {"tk_native"},     {"tk_abstract_interface"},
    {"tk_local_interface"}};
}  // namespace detail

inline constexpr TypeCodeConstant _tc_TCKind{{.kind = ::corelane::any::Kind::enumeration,
                                              .id = "IDL:omg.org/CORBA/TCKind:1.0",
                                              .name = "TCKind",
                                              .members = detail::names_of_kinds}};

inline void encode(::corelane::cdr::Writer& writer, TCKind kind) { ::corelane::cdr::write_enum(writer, kind); }
inline bool decode(::corelane::cdr::Reader& reader, TCKind& kind) {
  return ::corelane::cdr::read_enum(reader, kind, ::corelane::any::kinds);
}
inline std::ostream& operator<<(std::ostream& out, TCKind kind) {
  return out << detail::names_of_kinds[static_cast<std::size_t>(kind) % ::corelane::any::kinds].name;
}

}  // namespace CORBA

namespace corelane::any {

template <>
inline constexpr const TypeDesc* desc_of<::CORBA::TCKind> = &::CORBA::_tc_TCKind;

}  // namespace corelane::any
