#include <map>

#include "orb/any/graph.h"
#include "orb/any/indirection.h"
#include "orb/any/type_codec.h"
#include "orb/base/minor.h"
#include "orb/cdr/codec.h"

namespace corelane::any {
namespace {

// Returns whether the kind has a repository id, which may be empty. Types of other kinds are written again when they
// occur again.
bool has_id(Kind kind) {
  switch (kind) {
    case Kind::objref:
    case Kind::structure:
    case Kind::union_:
    case Kind::enumeration:
    case Kind::alias:
    case Kind::exception:
    case Kind::value:
    case Kind::value_box:
      return true;
    default:
      return false;
  }
}

class TypeWriter {
 public:
  explicit TypeWriter(cdr::Writer& out) : out_(out) {}

  void write(const TypeDesc& type) {
    if (const auto seen = written_.find(&type); seen != written_.end()) return write_indirection(out_, seen->second);
    if (type.kind == recursive_kind) return out_.fail(ErrorKind::bad_typecode, minor::bad_typecode);
    if (depth_ == cdr::Reader::max_depth) return out_.fail(ErrorKind::imp_limit, minor::too_deep);
    ++depth_;
    out_.align(4);
    if (has_id(type.kind)) written_.emplace(&type, out_.size());
    out_.write(static_cast<std::uint32_t>(type.kind));
    write_parameters(type);
    --depth_;
  }

 private:
  void write_parameters(const TypeDesc& type) {
    switch (type.kind) {
      case Kind::string:
      case Kind::wstring:
        return out_.write(type.length);
      case Kind::fixed:
        out_.write(type.digits);
        return out_.write(type.scale);
      case Kind::objref:
      case Kind::abstract_interface:
      case Kind::local_interface:
      case Kind::native:
      case Kind::structure:
      case Kind::exception:
      case Kind::union_:
      case Kind::enumeration:
      case Kind::sequence:
      case Kind::array:
      case Kind::alias:
      case Kind::value:
      case Kind::value_box: {
        const auto mark = out_.begin_encapsulation();
        write_complex(type);
        return out_.end_encapsulation(mark);
      }
      default:
        return;
    }
  }

  void write_complex(const TypeDesc& type) {
    if (type.kind != Kind::sequence && type.kind != Kind::array) {
      out_.write_string(type.id);
      out_.write_string(type.name);
    }
    switch (type.kind) {
      case Kind::sequence:
      case Kind::array:
        write(*type.content);
        return out_.write(type.length);
      case Kind::alias:
      case Kind::value_box:
        return write(*type.content);
      case Kind::union_:
        return write_union(type);
      case Kind::value:
        return write_value(type);
      case Kind::structure:
      case Kind::exception:
      case Kind::enumeration:
        return write_members(type);
      default:
        return;
    }
  }

  void write_members(const TypeDesc& type) {
    out_.write_length(type.members.size());
    for (const MemberDesc& member : type.members) {
      out_.write_string(member.name);
      if (member.type != nullptr) write(*member.type);
      if (type.kind == Kind::value) out_.write(member.visibility);
    }
  }

  void write_union(const TypeDesc& type) {
    write(*type.content);
    out_.write(type.default_index);
    out_.write_length(type.members.size());
    for (std::size_t i = 0; i < type.members.size(); ++i) {
      const MemberDesc& member = type.members[i];
      const bool is_default = type.default_index >= 0 && i == static_cast<std::size_t>(type.default_index);
      write_label(out_, *type.content, is_default ? 0 : member.label);
      out_.write_string(member.name);
      write(*member.type);
    }
  }

  void write_value(const TypeDesc& type) {
    out_.write(type.modifier);
    write(type.content == nullptr ? basic::null : *type.content);
    write_members(type);
  }

  cdr::Writer& out_;
  std::map<const TypeDesc*, std::size_t> written_;  // position of each type with an id
  int depth_ = 0;
};

}  // namespace

void encode(cdr::Writer& writer, const TypeCode& type) { TypeWriter(writer).write(*type); }

void write_label(cdr::Writer& writer, const TypeDesc& type, std::int64_t label) {
  switch (unaliased(type).kind) {
    case Kind::boolean:
      return writer.write(label != 0);
    case Kind::char_:
    case Kind::octet:
      return writer.write(static_cast<std::uint8_t>(label));
    case Kind::wchar:
      return encode(writer, static_cast<wchar_t>(label));
    case Kind::short_:
    case Kind::ushort:
      return writer.write(static_cast<std::uint16_t>(label));
    case Kind::long_:
    case Kind::ulong:
    case Kind::enumeration:
      return writer.write(static_cast<std::uint32_t>(label));
    case Kind::longlong:
    case Kind::ulonglong:
      return writer.write(label);
    default:
      return writer.fail(ErrorKind::bad_typecode, minor::bad_typecode);
  }
}

}  // namespace corelane::any
