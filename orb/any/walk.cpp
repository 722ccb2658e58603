#include "orb/any/walk.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "orb/any/type_codec.h"
#include "orb/any/value_read.h"
#include "orb/any/value_write.h"
#include "orb/base/minor.h"
#include "orb/cdr/codec.h"
#include "orb/cdr/decimal.h"

namespace corelane::any {
namespace {

class Walk {
 public:
  Walk(cdr::Reader& in, cdr::Writer* out) : in_(in), out_(out) {}

  // Values that take bytes are bounded by these bytes and by the depth. Values that take none are counted. So the limit
  // does not depend on padding, which differs between senders.
  bool value(const TypeDesc& aliased) {
    const std::size_t before = in_.offset();
    if (!content(unaliased(aliased))) return false;
    return in_.offset() != before || empty(1);
  }

  bool saw_values() const { return saw_values_; }

 private:
  bool content(const TypeDesc& type) {
    switch (type.kind) {
      case Kind::null:
      case Kind::void_:
        return in_.ok();
      case Kind::boolean:
        return copy<bool>();
      case Kind::char_:
      case Kind::octet:
        return copy<std::uint8_t>();
      case Kind::short_:
      case Kind::ushort:
        return copy<std::uint16_t>();
      case Kind::long_:
      case Kind::ulong:
      case Kind::float_:
        return copy<std::uint32_t>();
      case Kind::longlong:
      case Kind::ulonglong:
      case Kind::double_:
        return copy<std::uint64_t>();
      case Kind::longdouble:
        return copy<long double>();
      case Kind::wchar:
        return copy<wchar_t>();
      case Kind::string:
        return string(type);
      case Kind::wstring:
        return wide_string(type);
      case Kind::enumeration:
        return enumerator(type);
      case Kind::fixed:
        return fixed(type);
      default:
        return nested(type);
    }
  }

  bool nested(const TypeDesc& type) {
    const cdr::Reader::Level level(in_);
    if (!level) return false;
    switch (type.kind) {
      case Kind::structure:
        return members(type);
      case Kind::exception:
        return string({.kind = Kind::string}) && members(type);
      case Kind::union_:
        return union_value(type);
      case Kind::sequence:
        return sequence(type);
      case Kind::array:
        return elements(*type.content, type.length);
      case Kind::any:
        return any_value();
      case Kind::type_code:
        return type_code(nullptr);
      case Kind::objref:
        return reference();
      case Kind::value:
      case Kind::value_box:
        return object(type);
      case Kind::abstract_interface:
        return abstract();
      default:
        return in_.fail(minor::bad_typecode);  // native, local: never on the wire
    }
  }

  bool abstract() {
    bool is_reference = false;
    if (!in_.read(is_reference)) return false;
    if (out_ != nullptr) out_->write(is_reference);
    return is_reference ? reference() : object(basic::value_base);
  }

  bool object(const TypeDesc& declared) {
    ValueHeader header;
    switch (begin_value(in_, header)) {
      case ValueStart::null:
        if (out_ != nullptr) write_null_value(*out_);
        return true;
      case ValueStart::again:
        saw_values_ = true;
        return out_ == nullptr || again(header.at, declared);
      case ValueStart::fresh:
        saw_values_ = true;
        return fresh(declared, header);
      default:
        return false;
    }
  }

  // Writes a reference to a value that was copied already; copies a value that lies outside what was copied.
  bool again(const std::byte* at, const TypeDesc& declared) {
    if (const auto seen = copied_.find(at); seen != copied_.end()) return write_value_again(*out_, seen->second), true;
    cdr::Reader there = reader_at(in_, at);
    const cdr::Reader::Level level(there);
    if (!level) return in_.fail(there);
    const std::size_t before = out_->size();
    std::swap(in_, there);
    ValueHeader header;
    const bool copied = begin_value(in_, header) == ValueStart::fresh && !header.ids.empty() && fresh(declared, header);
    std::swap(in_, there);
    if (!copied) return there.ok() ? in_.fail(minor::bad_indirection) : in_.fail(there);
    std::size_t& sum = ReadValues::of(in_).copied_bytes;
    sum += out_->size() - before;
    return sum <= most_copied_bytes || in_.fail(minor::too_many_nodes);
  }

  bool fresh(const TypeDesc& declared, ValueHeader& header) {
    bool truncated = false;
    declare(in_, header, declared);
    const TypeDesc* type = type_of(header, declared, truncated);
    const bool is_data = type != nullptr && type->modifier != custom_value && type->modifier != abstract_value;
    if (!is_data && out_ == nullptr && header.chunked) return enter_value(in_, header), end_value(in_, header, true);
    if (type == nullptr || (truncated && !header.chunked)) return in_.fail(minor::no_value_factory);
    if (!is_data) return by_its_class(*type, header);
    ValueMark mark{};
    if (out_ != nullptr) {
      mark = begin_value(*out_, *type);
      copied_.emplace(header.at, mark.at);
    }
    enter_value(in_, header);
    if (!state(*type) || !end_value(in_, header, truncated)) return false;
    if (out_ != nullptr) end_value(*out_, mark);
    return true;
  }

  bool state(const TypeDesc& type) {
    if (type.kind == Kind::value_box) return value(*type.content);
    return (type.content == nullptr || state(*type.content)) && members(type);
  }

  bool by_its_class(const TypeDesc& type, const ValueHeader& header) {
    if (out_ == nullptr) return in_.fail(minor::no_value_factory);
    cdr::Reader there = reader_at(in_, header.at);
    std::shared_ptr<Value> value;
    {
      const Copying copying(ReadValues::of(in_));
      if (!decode_value(there, {type}, value)) return in_.fail(there);
    }
    if (value == nullptr) return in_.fail(minor::bad_value_tag);  // the tag has changed after it was read
    in_ = there;
    // The class would be written in a form that the type does not announce.
    const TypeDesc& own = value->_type_desc();
    if (own.id == type.id && own.modifier != type.modifier) return in_.fail(minor::wrong_value_type);
    encode_value(*out_, value);
    if (const auto written = WrittenValues::of(*out_).values.find(value.get());
        written != WrittenValues::of(*out_).values.end())
      copied_.emplace(header.at, written->second.at);
    return true;
  }

  template <typename T>
  bool copy() {
    T value{};
    if (!decode(in_, value)) return false;
    if (out_ != nullptr) encode(*out_, value);
    return true;
  }

  bool string(const TypeDesc& type) {
    std::string_view text;
    if (!read_text(in_, text, room_)) return false;
    if (type.length != 0 && text.size() > type.length) return in_.fail(minor::bound_exceeded);
    if (out_ != nullptr) write_text(*out_, text);
    return true;
  }

  bool wide_string(const TypeDesc& type) {
    std::wstring text;
    if (!decode(in_, text)) return false;
    if (type.length != 0 && text.size() > type.length) return in_.fail(minor::bound_exceeded);
    if (out_ != nullptr) encode(*out_, text);
    return true;
  }

  bool enumerator(const TypeDesc& type) {
    std::uint32_t number = 0;
    if (!in_.read(number)) return false;
    if (number >= type.members.size()) return in_.fail(minor::bad_enum);
    if (out_ != nullptr) out_->write(number);
    return true;
  }

  bool fixed(const TypeDesc& type) {
    cdr::Decimal value;
    if (!read_decimal(in_, value, type.digits, type.scale)) return false;
    if (out_ != nullptr) write_decimal(*out_, value, type.digits, type.scale);
    return true;
  }

  bool members(const TypeDesc& type) {
    for (const MemberDesc& member : type.members)
      if (!value(*member.type)) return false;
    return in_.ok();
  }

  bool union_value(const TypeDesc& type) {
    std::int64_t label = 0;
    if (!read_label(in_, *type.content, label)) return false;
    if (out_ != nullptr) write_label(*out_, *type.content, label);
    const TypeDesc& discriminator = unaliased(*type.content);
    if (discriminator.kind == Kind::enumeration && static_cast<std::uint64_t>(label) >= discriminator.members.size())
      return in_.fail(minor::bad_enum);
    const MemberDesc* member = selected(type, label);
    return member == nullptr || value(*member->type);
  }

  bool sequence(const TypeDesc& type) {
    std::uint32_t count = 0;
    if (!in_.read_length(count, least_size(*type.content))) return false;
    if (type.length != 0 && count > type.length) return in_.fail(minor::bound_exceeded);
    if (out_ != nullptr) out_->write_length(count);
    return elements(*type.content, count);
  }

  bool elements(const TypeDesc& type, std::uint32_t count) {
    if (unaliased(type).kind == Kind::octet || unaliased(type).kind == Kind::char_) {
      Bytes bytes;
      if (!in_.read_bytes(bytes, count)) return false;
      if (out_ != nullptr) out_->write_bytes(bytes);
      return true;
    }
    for (std::uint32_t i = 0; i < count; ++i) {  // bound: the bytes
      const std::size_t before = in_.offset();
      if (!value(type)) return false;
      if (in_.offset() == before) return empty(count - 1);  // the other elements take none either
    }
    return in_.ok();
  }

  bool empty(std::uint32_t count) {
    empty_ += count;
    return empty_ <= cdr::Reader::max_empty_elements || in_.fail(minor::too_many_empty);
  }

  bool type_code(TypeCode* type) {
    TypeCode own;
    TypeCode& read = type == nullptr ? own : *type;
    if (!decode(in_, read)) return false;
    if (out_ != nullptr) encode(*out_, read);
    return true;
  }

  bool any_value() {
    TypeCode type;
    return type_code(&type) && value(*type);
  }

  // Copies a reference: the type id, then profiles, each a tag and its bytes.
  bool reference() {
    std::uint32_t profiles = 0;
    if (!string({.kind = Kind::string}) || !in_.read_length(profiles, 8)) return false;
    if (out_ != nullptr) out_->write_length(profiles);
    for (std::uint32_t i = 0; i < profiles; ++i) {  // bound: read_length()
      Bytes content;
      if (!copy<std::uint32_t>() || !in_.read_octets(content)) return false;
      if (out_ != nullptr) out_->write_octets(content);
    }
    return true;
  }

  cdr::Reader& in_;
  cdr::Writer* const out_;
  std::uint64_t empty_ = 0;  // number of values that took no bytes
  bool saw_values_ = false;
  std::string room_;                                // holds converted text
  std::map<const std::byte*, std::size_t> copied_;  // old and new position of each value
};

// LeastSize adds nothing up: the first part that takes bytes decides. It gives up after `steps` parts, because parts
// without bytes may be many, and contain each other.
struct LeastSize {
  int& steps;

  std::size_t of(const TypeDesc& aliased) noexcept {
    if (steps-- <= 0) return 0;
    const TypeDesc& type = unaliased(aliased);
    switch (type.kind) {
      case Kind::null:
      case Kind::void_:
        return 0;
      case Kind::structure:
        return of_members(type);
      case Kind::array:
        return type.length == 0 ? 0 : of(*type.content);
      case Kind::short_:
      case Kind::ushort:
        return 2;
      case Kind::long_:
      case Kind::ulong:
      case Kind::float_:
      case Kind::enumeration:
      case Kind::sequence:
      case Kind::any:
      case Kind::value:
      case Kind::value_box:
        return 4;
      case Kind::longlong:
      case Kind::ulonglong:
      case Kind::double_:
        return 8;
      default:
        return 1;
    }
  }

  std::size_t of_members(const TypeDesc& type) noexcept {
    for (const MemberDesc& member : type.members) {
      if (const std::size_t size = of(*member.type)) return size;
      if (steps <= 0) return 0;
    }
    return 0;
  }
};

}  // namespace

// Bound: the logarithm of the number of members. For a type of generated code: that number.
const MemberDesc* selected(const TypeDesc& type, std::int64_t label) noexcept {
  const bool has_default = type.default_index >= 0;
  const MemberDesc* const other = has_default ? &type.members[static_cast<std::size_t>(type.default_index)] : nullptr;
  if (!type.by_label.empty()) {
    const auto label_of = [&](std::uint32_t member) { return type.members[member].label; };
    const auto found = std::ranges::lower_bound(type.by_label, label, {}, label_of);
    return found != type.by_label.end() && label_of(*found) == label ? &type.members[*found] : other;
  }
  for (const MemberDesc& member : type.members)
    if (&member != other && member.label == label) return &member;
  return other;
}

std::size_t least_size(const TypeDesc& type) noexcept {
  int steps = 64;
  return LeastSize{steps}.of(type);
}

bool transfer(cdr::Reader& reader, const TypeDesc& type, cdr::Writer* out) { return Walk(reader, out).value(type); }

bool skip(cdr::Reader& reader, const TypeDesc& type, bool& saw_values) {
  Walk walk(reader, nullptr);
  const bool done = walk.value(type);
  saw_values = walk.saw_values();
  return done;
}

}  // namespace corelane::any
