// Defines CORBA::TypeCode and the constants _tc_... CORBA 3.3 part 1, 8.11; IDL to C++11, 6.24.
//
// Threads: immutable; any.
#pragma once

#include "orb/base/language.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "orb/any/type.h"
#include "orb/corba/object.h"
#include "orb/core/exception.h"

namespace CORBA {

class Any;

enum class TCKind : std::uint32_t {
  tk_null,
  tk_void,
  tk_short,
  tk_long,
  tk_ushort,
  tk_ulong,
  tk_float,
  tk_double,
  tk_boolean,
  tk_char,
  tk_octet,
  tk_any,
  tk_TypeCode,
  tk_Principal,
  tk_objref,
  tk_struct,
  tk_union,
  tk_enum,
  tk_string,
  tk_sequence,
  tk_array,
  tk_alias,
  tk_except,
  tk_longlong,
  tk_ulonglong,
  tk_longdouble,
  tk_wchar,
  tk_wstring,
  tk_fixed,
  tk_value,
  tk_value_box,
  tk_native,
  tk_abstract_interface,
  tk_local_interface
};

class TypeCode final {
 public:
  using _ref_type = object_reference<TypeCode>;

  template <int tag>
  struct Fault final : ::corelane::core::UserException {
    static constexpr const char* _id =
        tag == 0 ? "IDL:omg.org/CORBA/TypeCode/BadKind:1.0" : "IDL:omg.org/CORBA/TypeCode/Bounds:1.0";
    const char* _rep_id() const noexcept override { return _id; }
    const char* what() const noexcept override {
      return tag == 0 ? "CORBA::TypeCode::BadKind: types of this kind have no such part"
                      : "CORBA::TypeCode::Bounds: the type has fewer members";
    }
    void _raise() const override { throw *this; }

   private:
    void _encode(::corelane::cdr::Writer&) const override {}
  };
  using BadKind = Fault<0>;
  using Bounds = Fault<1>;

  explicit TypeCode(::corelane::any::TypeCode code) noexcept : code_(std::move(code)) {}
  static _ref_type make(::corelane::any::TypeCode code) {
    return _ref_type(std::make_shared<TypeCode>(std::move(code)));
  }

  // Raise INV_OBJREF for nil.
  bool equal(const _ref_type& other) const { return ::corelane::any::equal(*code_, *other->code_); }
  bool equivalent(const _ref_type& other) const { return ::corelane::any::equivalent(*code_, *other->code_); }
  _ref_type get_compact_typecode() const;
  TCKind kind() const noexcept { return static_cast<TCKind>(code_->kind); }

  // A part that the kind does not have raises BadKind; an index that is too large raises Bounds.
  std::string id() const;
  std::string name() const;
  std::uint32_t member_count() const;
  std::string member_name(std::uint32_t index) const;
  _ref_type member_type(std::uint32_t index) const;
  Any member_label(std::uint32_t index) const;  // octet 0 for the default member
  std::int16_t member_visibility(std::uint32_t index) const;
  _ref_type discriminator_type() const;
  std::int32_t default_index() const;  // -1: none
  std::uint32_t length() const;        // 0: without a bound
  _ref_type content_type() const;
  std::uint16_t fixed_digits() const;
  std::int16_t fixed_scale() const;
  std::int16_t type_modifier() const;
  _ref_type concrete_base_type() const;  // nil: none

  const ::corelane::any::TypeCode& _code() const noexcept { return code_; }

 private:
  const ::corelane::any::MemberDesc& member(std::uint32_t index) const;
  _ref_type part(const ::corelane::any::TypeDesc& desc) const { return make(code_.part(desc)); }

  const ::corelane::any::TypeCode code_;
};

// TypeCodeConstant is a constant TypeDesc that is used like a reference to a TypeCode. It needs no code at start-up.
struct TypeCodeConstant : ::corelane::any::TypeDesc {
  class Arrow {
   public:
    explicit Arrow(const ::corelane::any::TypeDesc& desc) : code_(desc) {}
    const TypeCode* operator->() const noexcept { return &code_; }

   private:
    TypeCode code_;
  };
  Arrow operator->() const { return Arrow(*this); }
  operator object_reference<TypeCode>() const { return TypeCode::make(*this); }
};

inline constexpr TypeCodeConstant _tc_null{::corelane::any::basic::null};
inline constexpr TypeCodeConstant _tc_void{::corelane::any::basic::void_};
inline constexpr TypeCodeConstant _tc_short{::corelane::any::basic::short_};
inline constexpr TypeCodeConstant _tc_long{::corelane::any::basic::long_};
inline constexpr TypeCodeConstant _tc_longlong{::corelane::any::basic::longlong};
inline constexpr TypeCodeConstant _tc_ushort{::corelane::any::basic::ushort};
inline constexpr TypeCodeConstant _tc_ulong{::corelane::any::basic::ulong};
inline constexpr TypeCodeConstant _tc_ulonglong{::corelane::any::basic::ulonglong};
inline constexpr TypeCodeConstant _tc_float{::corelane::any::basic::float_};
inline constexpr TypeCodeConstant _tc_double{::corelane::any::basic::double_};
inline constexpr TypeCodeConstant _tc_longdouble{::corelane::any::basic::longdouble};
inline constexpr TypeCodeConstant _tc_boolean{::corelane::any::basic::boolean};
inline constexpr TypeCodeConstant _tc_char{::corelane::any::basic::char_};
inline constexpr TypeCodeConstant _tc_wchar{::corelane::any::basic::wchar};
inline constexpr TypeCodeConstant _tc_octet{::corelane::any::basic::octet};
inline constexpr TypeCodeConstant _tc_string{::corelane::any::basic::string};
inline constexpr TypeCodeConstant _tc_wstring{::corelane::any::basic::wstring};
inline constexpr TypeCodeConstant _tc_any{::corelane::any::basic::any};
inline constexpr TypeCodeConstant _tc_TypeCode{::corelane::any::basic::type_code};
inline constexpr TypeCodeConstant _tc_Object{::corelane::any::basic::object};
inline constexpr TypeCodeConstant _tc_ValueBase{::corelane::any::basic::value_base};

void encode(::corelane::cdr::Writer& writer, const object_reference<TypeCode>& type);
bool decode(::corelane::cdr::Reader& reader, object_reference<TypeCode>& type);

}  // namespace CORBA

namespace IDL {

template <>
struct traits<::CORBA::TypeCode> {
  using ref_type = ::CORBA::object_reference<::CORBA::TypeCode>;
  using weak_ref_type = ::CORBA::weak_reference<::CORBA::TypeCode>;
};

}  // namespace IDL

namespace corelane::any {

template <>
inline constexpr const TypeDesc* desc_of<::CORBA::object_reference<::CORBA::TypeCode>> = &basic::type_code;

}  // namespace corelane::any
