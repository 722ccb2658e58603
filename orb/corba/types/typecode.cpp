#include "orb/corba/typecode.h"

#include "orb/any/make_type.h"
#include "orb/any/type_codec.h"
#include "orb/base/minor.h"
#include "orb/corba/any.h"

namespace CORBA {
namespace {

namespace any = ::corelane::any;
using any::Kind;

template <typename... T>
void require(Kind kind, T... allowed) {
  if (!((kind == allowed) || ...)) throw TypeCode::BadKind();
}

void require_id(Kind kind) {
  require(kind, Kind::objref, Kind::structure, Kind::union_, Kind::enumeration, Kind::alias, Kind::exception,
          Kind::value, Kind::value_box, Kind::native, Kind::abstract_interface, Kind::local_interface);
}

// Returns a label as an Any of the discriminator's type.
Any any_of_label(const any::TypeCode& type, std::int64_t label) {
  ::corelane::cdr::Writer writer;
  any::write_label(writer, *type, label);
  ::corelane::cdr::Reader reader(writer.bytes());
  Any out;
  if (!out.read_value(reader, type)) throw TypeCode::BadKind();
  return out;
}

}  // namespace

TypeCode::_ref_type TypeCode::get_compact_typecode() const { return make(any::compact(code_)); }

std::string TypeCode::id() const {
  require_id(code_->kind);
  return std::string(code_->id);
}

std::string TypeCode::name() const {
  require_id(code_->kind);
  return std::string(code_->name);
}

std::uint32_t TypeCode::member_count() const {
  require(code_->kind, Kind::structure, Kind::union_, Kind::enumeration, Kind::exception, Kind::value);
  return static_cast<std::uint32_t>(code_->members.size());
}

const any::MemberDesc& TypeCode::member(std::uint32_t index) const {
  if (index >= member_count()) throw Bounds();
  return code_->members[index];
}

std::string TypeCode::member_name(std::uint32_t index) const { return std::string(member(index).name); }

TypeCode::_ref_type TypeCode::member_type(std::uint32_t index) const {
  require(code_->kind, Kind::structure, Kind::union_, Kind::exception, Kind::value);
  return part(*member(index).type);
}

Any TypeCode::member_label(std::uint32_t index) const {
  require(code_->kind, Kind::union_);
  const std::int64_t label = member(index).label;
  if (code_->default_index >= 0 && index == static_cast<std::uint32_t>(code_->default_index))
    return any_of_label(any::basic::octet, 0);
  return any_of_label(code_.part(*code_->content), label);
}

std::int16_t TypeCode::member_visibility(std::uint32_t index) const {
  require(code_->kind, Kind::value);
  return member(index).visibility;
}

TypeCode::_ref_type TypeCode::discriminator_type() const {
  require(code_->kind, Kind::union_);
  return part(*code_->content);
}

std::int32_t TypeCode::default_index() const {
  require(code_->kind, Kind::union_);
  return code_->default_index;
}

std::uint32_t TypeCode::length() const {
  require(code_->kind, Kind::string, Kind::wstring, Kind::sequence, Kind::array);
  return code_->length;
}

TypeCode::_ref_type TypeCode::content_type() const {
  require(code_->kind, Kind::sequence, Kind::array, Kind::alias, Kind::value_box);
  return part(*code_->content);
}

std::uint16_t TypeCode::fixed_digits() const {
  require(code_->kind, Kind::fixed);
  return code_->digits;
}

std::int16_t TypeCode::fixed_scale() const {
  require(code_->kind, Kind::fixed);
  return code_->scale;
}

std::int16_t TypeCode::type_modifier() const {
  require(code_->kind, Kind::value);
  return code_->modifier;
}

TypeCode::_ref_type TypeCode::concrete_base_type() const {
  require(code_->kind, Kind::value);
  return code_->content == nullptr ? nullptr : part(*code_->content);
}

void encode(::corelane::cdr::Writer& writer, const object_reference<TypeCode>& type) {
  if (!type) return writer.fail(::corelane::ErrorKind::bad_typecode, ::corelane::minor::nil_reference);
  any::encode(writer, type->_code());
}

bool decode(::corelane::cdr::Reader& reader, object_reference<TypeCode>& type) {
  any::TypeCode code;
  if (!any::decode(reader, code)) return false;
  type = TypeCode::make(std::move(code));
  return true;
}

}  // namespace CORBA
