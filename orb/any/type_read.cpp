#include <map>

#include "orb/any/graph.h"
#include "orb/any/indirection.h"
#include "orb/any/type_codec.h"
#include "orb/base/minor.h"
#include "orb/cdr/codec.h"

namespace corelane::any {
namespace {

class TypeReader {
 public:
  bool read_all(cdr::Reader& in, TypeCode& out) {
    const TypeDesc* root = read(in);
    if (root == nullptr) return in.fail(minor::bad_typecode);
    for (const TypeDesc& type : graph_->types)
      if (!check(type)) return in.fail(minor::bad_typecode);
    out = graph_->types.empty() ? TypeCode(*root) : TypeCode(*root, std::move(graph_));
    return true;
  }

 private:
  // Returns null on failure; then `in` has failed, or the caller fails it.
  const TypeDesc* read(cdr::Reader& in) {
    const cdr::Reader::Level level(in);
    std::uint32_t kind = 0;
    if (!level || !in.align(4)) return nullptr;
    const std::byte* const at = in.rest().data();
    if (!in.read(kind)) return nullptr;
    if (kind == indirection_tag) return follow(in);
    if (kind >= kinds) return refuse(in, minor::bad_typecode);
    if (const TypeDesc* simple = simple_type(static_cast<Kind>(kind))) return simple;
    if (graph_->types.size() == most_nodes) return refuse(in, minor::too_many_nodes);
    TypeDesc& type = graph_->types.emplace_back();
    type.kind = static_cast<Kind>(kind);
    started_.emplace(at, &type);
    return read_parameters(in, type) ? &type : refuse(in, minor::bad_typecode);
  }

  static const TypeDesc* refuse(cdr::Reader& in, std::uint32_t code) {
    in.fail(code);
    return nullptr;
  }

  // Returns the type of a kind without parameters; null for others.
  static const TypeDesc* simple_type(Kind kind) noexcept {
    using namespace basic;
    static constexpr const TypeDesc* all[] = {&null,  &void_,     &short_, &long_,   &longlong,   &ushort,
                                              &ulong, &ulonglong, &float_, &double_, &longdouble, &boolean,
                                              &char_, &wchar,     &octet,  &any,     &type_code};
    for (const TypeDesc* type : all)
      if (type->kind == kind) return type;
    return nullptr;
  }

  const TypeDesc* follow(cdr::Reader& in) {
    const std::byte* const target = read_indirection(in);
    const auto seen = started_.find(target);
    return target == nullptr || seen == started_.end() ? refuse(in, minor::bad_indirection) : seen->second;
  }

  bool read_parameters(cdr::Reader& in, TypeDesc& type) {
    switch (type.kind) {
      case Kind::string:
      case Kind::wstring:
        return in.read(type.length);
      case Kind::fixed:
        return in.read(type.digits) && in.read(type.scale);
      case Kind::principal:
        return false;
      default: {
        cdr::Reader inner = in.read_encapsulation();
        if (read_complex(inner, type)) return true;
        return inner.ok() ? in.fail(minor::bad_typecode) : in.fail(inner);
      }
    }
  }

  bool read_text(cdr::Reader& in, std::string_view& out) {
    std::string_view text;
    if (!in.read_string(text)) return false;
    out = graph_->keep(text);
    return true;
  }

  bool read_content(cdr::Reader& in, TypeDesc& type) { return (type.content = read(in)) != nullptr; }

  bool read_complex(cdr::Reader& in, TypeDesc& type) {
    if (type.kind == Kind::sequence || type.kind == Kind::array) return read_content(in, type) && in.read(type.length);
    if (!read_text(in, type.id) || !read_text(in, type.name)) return false;
    switch (type.kind) {
      case Kind::alias:
      case Kind::value_box:
        return read_content(in, type);
      case Kind::structure:
      case Kind::exception:
      case Kind::enumeration:
        return read_members(in, type);
      case Kind::union_:
        return read_union(in, type);
      case Kind::value:
        return read_value(in, type);
      default:
        return true;
    }
  }

  // Each member has at least the bytes of a string's length; read_length() checks that so many bytes have arrived.
  bool read_count(cdr::Reader& in, std::vector<MemberDesc>*& members) {
    std::uint32_t count = 0;
    if (!in.read_length(count, 4)) return false;
    nodes_ += count;
    if (nodes_ > most_nodes) return in.fail(minor::too_many_nodes);
    members = &graph_->members.emplace_back(count);
    return true;
  }

  bool read_members(cdr::Reader& in, TypeDesc& type) {
    std::vector<MemberDesc>* members = nullptr;
    if (!read_count(in, members)) return false;
    for (MemberDesc& member : *members) {
      if (!read_text(in, member.name)) return false;
      if (type.kind != Kind::enumeration && (member.type = read(in)) == nullptr) return false;
      if (type.kind == Kind::value && !in.read(member.visibility)) return false;
    }
    type.members = *members;
    return true;
  }

  bool read_union(cdr::Reader& in, TypeDesc& type) {
    std::vector<MemberDesc>* members = nullptr;
    // The labels are read next, so the discriminator's type must be complete by now.
    if (!read_content(in, type) || !check(*type.content) || !may_be_discriminator(*type.content))
      return in.fail(minor::bad_typecode);
    if (!in.read(type.default_index) || !read_count(in, members)) return false;
    if (type.default_index >= static_cast<std::int64_t>(members->size())) return in.fail(minor::bad_typecode);
    // No default member. omniORB writes -2 if the labels leave no value for one.
    if (type.default_index < 0) type.default_index = -1;
    for (MemberDesc& member : *members) {
      const bool is_default = type.default_index == &member - members->data();
      if (!read_label(in, *type.content, member.label)) return false;
      if (is_default) member.label = 0;  // its value has no meaning
      if (!read_text(in, member.name) || (member.type = read(in)) == nullptr) return false;
    }
    type.members = *members;
    return index_labels(*graph_, type) || in.fail(minor::bad_typecode);
  }

  bool read_value(cdr::Reader& in, TypeDesc& type) {
    if (!in.read(type.modifier) || !read_content(in, type)) return false;
    if (type.content->kind == Kind::null) type.content = nullptr;
    return read_members(in, type);
  }

  // Checks what needs all indirections: chains of aliases and of bases end soon, digits are valid, a base is a value.
  // Each value of a type follows these chains, so a long one would multiply the work.
  bool check(const TypeDesc& type) const {
    if (type.kind == Kind::fixed)
      return type.digits >= 1 && type.digits <= 31 && type.scale >= 0 && type.scale <= type.digits;
    if (type.kind == Kind::value && type.content != nullptr && type.content->kind != Kind::value) return false;
    const TypeDesc* end = &type;
    std::size_t steps = 0;
    while (end != nullptr && (end->kind == Kind::alias || (type.kind == Kind::value && end->kind == Kind::value))) {
      if (++steps > most_links) return false;
      end = end->content;
    }
    return type.kind == Kind::value || end != nullptr;
  }

  static constexpr std::size_t most_links = 64;

  std::shared_ptr<Graph> graph_ = std::make_shared<Graph>();
  std::map<const std::byte*, const TypeDesc*> started_;  // start of each type
  std::size_t nodes_ = 0;                                // total number of members
};

}  // namespace

bool may_be_discriminator(const TypeDesc& type) noexcept {
  switch (unaliased(type).kind) {
    case Kind::boolean:
    case Kind::char_:
    case Kind::wchar:
    case Kind::octet:
    case Kind::short_:
    case Kind::ushort:
    case Kind::long_:
    case Kind::ulong:
    case Kind::longlong:
    case Kind::ulonglong:
    case Kind::enumeration:
      return true;
    default:
      return false;
  }
}

bool decode(cdr::Reader& reader, TypeCode& type) { return TypeReader().read_all(reader, type); }

bool read_label(cdr::Reader& reader, const TypeDesc& type, std::int64_t& label) noexcept {
  const auto as = [&]<typename T>(T value) {
    if (!decode(reader, value)) return false;
    label = static_cast<std::int64_t>(value);
    return true;
  };
  switch (unaliased(type).kind) {
    case Kind::boolean:
      return as(false);
    case Kind::char_:
    case Kind::octet:
      return as(std::uint8_t{});
    case Kind::wchar:
      return as(wchar_t{});
    case Kind::short_:
      return as(std::int16_t{});
    case Kind::ushort:
      return as(std::uint16_t{});
    case Kind::long_:
      return as(std::int32_t{});
    case Kind::ulong:
    case Kind::enumeration:
      return as(std::uint32_t{});
    case Kind::longlong:
      return as(std::int64_t{});
    case Kind::ulonglong:
      return as(std::uint64_t{});
    default:
      return reader.fail(minor::bad_typecode);
  }
}

}  // namespace corelane::any
