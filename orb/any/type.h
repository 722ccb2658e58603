// TypeDesc and TypeCode describe a type as data. One form serves both the types of generated code, which are constants
// without any set-up, and types that are received or made at run time. CORBA 3.3 part 1, 8.11; part 2, 9.3.5.1.
//
// A TypeDesc refers to its parts by pointer, so a recursive type is a cycle of constants. The maker of a TypeDesc keeps
// it alive: generated code forever, a TypeCode as long as it or a copy lives.
// Threads: immutable after construction. A TypeCode is a value and can be copied to any thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

namespace corelane::any {

// CORBA::TCKind; the values are those on the wire.
enum class Kind : std::uint32_t {
  null,
  void_,
  short_,
  long_,
  ushort,
  ulong,
  float_,
  double_,
  boolean,
  char_,
  octet,
  any,
  type_code,
  principal,
  objref,
  structure,
  union_,
  enumeration,
  string,
  sequence,
  array,
  alias,
  exception,
  longlong,
  ulonglong,
  longdouble,
  wchar,
  wstring,
  fixed,
  value,
  value_box,
  native,
  abstract_interface,
  local_interface,
};
inline constexpr std::uint32_t kinds = static_cast<std::uint32_t>(Kind::local_interface) + 1;

struct TypeDesc;

// A member of a structure, exception, union or value. For an enumeration only the name is set.
struct MemberDesc {
  std::string_view name;
  const TypeDesc* type = nullptr;
  std::int64_t label = 0;       // union: the discriminator's value as a number; 0 for the default member
  std::int16_t visibility = 0;  // value: 0 private, 1 public
};

struct TypeDesc {
  Kind kind = Kind::null;
  std::string_view id{};
  std::string_view name{};
  std::span<const MemberDesc> members{};
  const TypeDesc* content = nullptr;  // sequence, array, alias, value_box: the element; union: the discriminator's
                                      // type; value: the concrete base or null
  std::uint32_t length = 0;           // string, wstring, sequence: bound or 0; array: elements
  std::uint16_t digits = 0;           // fixed
  std::int16_t scale = 0;             // fixed
  std::int32_t default_index = -1;    // union: index of the default member, or -1
  std::int16_t modifier = 0;          // value: 0 none, 1 custom, 2 abstract, 3 truncatable
  // union: the indexes of all members but the default one, sorted by label. Types of generated code have none.
  std::span<const std::uint32_t> by_label{};
};

namespace basic {
inline constexpr TypeDesc null{.kind = Kind::null};
inline constexpr TypeDesc void_{.kind = Kind::void_};
inline constexpr TypeDesc short_{.kind = Kind::short_};
inline constexpr TypeDesc long_{.kind = Kind::long_};
inline constexpr TypeDesc longlong{.kind = Kind::longlong};
inline constexpr TypeDesc ushort{.kind = Kind::ushort};
inline constexpr TypeDesc ulong{.kind = Kind::ulong};
inline constexpr TypeDesc ulonglong{.kind = Kind::ulonglong};
inline constexpr TypeDesc float_{.kind = Kind::float_};
inline constexpr TypeDesc double_{.kind = Kind::double_};
inline constexpr TypeDesc longdouble{.kind = Kind::longdouble};
inline constexpr TypeDesc boolean{.kind = Kind::boolean};
inline constexpr TypeDesc char_{.kind = Kind::char_};
inline constexpr TypeDesc wchar{.kind = Kind::wchar};
inline constexpr TypeDesc octet{.kind = Kind::octet};
inline constexpr TypeDesc string{.kind = Kind::string};
inline constexpr TypeDesc wstring{.kind = Kind::wstring};
inline constexpr TypeDesc any{.kind = Kind::any};
inline constexpr TypeDesc type_code{.kind = Kind::type_code};
inline constexpr TypeDesc object{.kind = Kind::objref, .id = "IDL:omg.org/CORBA/Object:1.0", .name = "Object"};
inline constexpr TypeDesc value_base{
    .kind = Kind::value, .id = "IDL:omg.org/CORBA/ValueBase:1.0", .name = "ValueBase", .modifier = 2};
inline constexpr TypeDesc abstract_base{
    .kind = Kind::abstract_interface, .id = "IDL:omg.org/CORBA/AbstractBase:1.0", .name = "AbstractBase"};
}  // namespace basic

// Returns the type without aliases. Chains of aliases end, because received types are checked for that.
inline const TypeDesc& unaliased(const TypeDesc& type) noexcept {
  const TypeDesc* out = &type;
  while (out->kind == Kind::alias) out = out->content;  // bound: no cycle of aliases
  return *out;
}

// Returns whether the types are identical, including names, ids and aliases. Bound: the product of the two sizes; types
// that are too large count as different.
bool equal(const TypeDesc& a, const TypeDesc& b);
// Returns whether values of both types are the same on the wire. Ignores aliases; if both types have a repository id,
// the ids decide.
bool equivalent(const TypeDesc& a, const TypeDesc& b);

class TypeCode {
 public:
  TypeCode() noexcept : desc_(&basic::null) {}
  // A constant of generated code, or a type with the owner that keeps `desc` alive.
  TypeCode(const TypeDesc& desc, std::shared_ptr<const void> owner = {}) noexcept
      : desc_(&desc), owner_(std::move(owner)) {}

  const TypeDesc& operator*() const noexcept { return *desc_; }
  const TypeDesc* operator->() const noexcept { return desc_; }
  // Returns a part of this type, with the same owner.
  TypeCode part(const TypeDesc& desc) const noexcept { return {desc, owner_}; }
  const std::shared_ptr<const void>& owner() const noexcept { return owner_; }

 private:
  const TypeDesc* desc_;
  std::shared_ptr<const void> owner_;
};

}  // namespace corelane::any
