#include <ostream>
#include <utility>

#include "orb/any/type_codec.h"
#include "orb/any/value_print.h"
#include "orb/any/value_read.h"
#include "orb/any/value_write.h"
#include "orb/any/walk.h"
#include "orb/base/minor.h"
#include "orb/cdr/codec.h"
#include "orb/cdr/decimal.h"

namespace corelane::any {
namespace {

// Prints a character inside quotes; escapes all that is not printable ASCII.
void put(std::ostream& out, char32_t c, char quote) {
  static constexpr char hex[] = "0123456789abcdef";
  if (c == U'\\' || c == static_cast<char32_t>(quote)) {
    out << '\\' << static_cast<char>(c);
  } else if (c >= U' ' && c <= U'~') {
    out << static_cast<char>(c);
  } else {
    out << (c <= 0xff ? "\\x" : c <= 0xffff ? "\\u" : "\\U");
    for (int shift = c <= 0xff ? 4 : c <= 0xffff ? 12 : 28; shift >= 0; shift -= 4) out << hex[c >> shift & 0xf];
  }
}

template <typename Text>
void put_quoted(std::ostream& out, const Text& text) {
  out << '"';
  // Bytes of multi-byte UTF-8 characters are printed unchanged.
  for (const auto c : text) {
    if constexpr (sizeof(c) == 1) {
      if (static_cast<unsigned char>(c) >= 0x80) {
        out << c;
        continue;
      }
    }
    put(out, static_cast<char32_t>(c), '"');
  }
  out << '"';
}

class Printer {
 public:
  Printer(std::ostream& out, cdr::Reader& in) : out_(out), in_(in), steps_left_(64 * (in.available() + 1) + 65'536) {}

  bool value(const TypeDesc& aliased) {
    if (steps_left_-- == 0) return in_.fail(minor::too_many_nodes);
    const TypeDesc& type = unaliased(aliased);
    switch (type.kind) {
      case Kind::null:
      case Kind::void_:
        out_ << "nothing";
        return in_.ok();
      case Kind::boolean:
        return number<bool>();
      case Kind::octet:
        return number<std::uint8_t>();
      case Kind::short_:
        return number<std::int16_t>();
      case Kind::ushort:
        return number<std::uint16_t>();
      case Kind::long_:
        return number<std::int32_t>();
      case Kind::ulong:
        return number<std::uint32_t>();
      case Kind::longlong:
        return number<std::int64_t>();
      case Kind::ulonglong:
        return number<std::uint64_t>();
      case Kind::float_:
        return number<float>();
      case Kind::double_:
        return number<double>();
      case Kind::longdouble:
        return number<long double>();
      case Kind::fixed:
        return fixed(type);
      case Kind::enumeration:
        return enumerator(type);
      default:
        return text(type);
    }
  }

 private:
  bool text(const TypeDesc& type) {
    switch (type.kind) {
      case Kind::char_:
        return character<std::uint8_t>();
      case Kind::wchar:
        return character<wchar_t>();
      case Kind::string:
        return quoted<std::string>();
      case Kind::wstring:
        return quoted<std::wstring>();
      default:
        return nested(type);
    }
  }

  bool nested(const TypeDesc& type) {
    const cdr::Reader::Level level(in_);
    if (!level) return false;
    switch (type.kind) {
      case Kind::structure:
      case Kind::exception:
        return members(type);
      case Kind::union_:
        return union_value(type);
      case Kind::sequence:
        return sequence(type);
      case Kind::array:
        return elements(*type.content, type.length);
      case Kind::any:
        return any_value();
      case Kind::type_code:
        return type_code();
      case Kind::objref:
        return reference(type);
      case Kind::value:
      case Kind::value_box:
        return object(type);
      case Kind::abstract_interface:
        return abstract();
      default:
        out_ << type.name << "{...}";
        return in_.fail(minor::bad_typecode);
    }
  }

  template <typename T>
  bool number() {
    T value{};
    if (!decode(in_, value)) return false;
    if constexpr (std::same_as<T, bool>) {
      out_ << (value ? "true" : "false");
    } else {
      out_ << +value;
    }
    return true;
  }

  template <typename T>
  bool character() {
    T value{};
    if (!decode(in_, value)) return false;
    out_ << '\'';
    put(out_, static_cast<char32_t>(value), '\'');
    out_ << '\'';
    return true;
  }

  template <typename T>
  bool quoted() {
    T value;
    if (!decode(in_, value)) return false;
    put_quoted(out_, value);
    return true;
  }

  bool fixed(const TypeDesc& type) {
    cdr::Decimal value;
    if (!read_decimal(in_, value, type.digits, type.scale)) return false;
    out_ << value.to_string();
    return true;
  }

  bool enumerator(const TypeDesc& type) {
    std::uint32_t index = 0;
    if (!in_.read(index)) return false;
    if (index >= type.members.size()) return in_.fail(minor::bad_enum);
    out_ << type.members[index].name;
    return true;
  }

  bool members(const TypeDesc& type) {
    if (type.kind == Kind::exception) {
      std::string_view id;
      if (!in_.read_string(id)) return false;
    }
    out_ << type.name << '{';
    bool first = true;
    if (!named(type, first)) return false;
    out_ << '}';
    return in_.ok();
  }

  bool named(const TypeDesc& type, bool& first) {
    for (const MemberDesc& member : type.members) {
      out_ << (std::exchange(first, false) ? "" : ", ") << member.name << " = ";
      if (!value(*member.type)) return false;
    }
    return true;
  }

  bool abstract() {
    bool is_reference = false;
    if (!in_.read(is_reference)) return false;
    return is_reference ? reference(basic::object) : object(basic::value_base);
  }

  bool object(const TypeDesc& declared) {
    ValueHeader header;
    switch (begin_value(in_, header)) {
      case ValueStart::null:
        return out_ << "null", true;
      case ValueStart::again:
        return out_ << "(as before)", true;
      case ValueStart::fresh:
        return fresh(declared, header);
      default:
        return false;
    }
  }

  // Prints a new value. If its type is not known as data, prints only its name.
  bool fresh(const TypeDesc& declared, const ValueHeader& header) {
    bool truncated = false;
    const TypeDesc* type = type_of(header, declared, truncated);
    const bool is_data = type != nullptr && type->modifier != custom_value && type->modifier != abstract_value;
    if ((!is_data || truncated) && !header.chunked) return in_.fail(minor::no_value_factory);
    out_ << (type == nullptr || type->name.empty() ? header.ids.front() : type->name) << '{';
    enter_value(in_, header);
    bool first = true;
    if (!is_data) out_ << "...";
    if (is_data && !state(*type, first)) return false;
    out_ << '}';
    return end_value(in_, header, truncated || !is_data);
  }

  bool state(const TypeDesc& type, bool& first) {
    if (type.kind == Kind::value_box) return value(*type.content);
    return (type.content == nullptr || state(*type.content, first)) && named(type, first);
  }

  bool union_value(const TypeDesc& type) {
    cdr::Reader ahead = in_;  // reads the discriminator as a number; then it is printed by its type
    std::int64_t label = 0;
    out_ << type.name << '{';
    if (!read_label(ahead, *type.content, label) || !value(*type.content)) return in_.fail(minor::bad_enum);
    if (const MemberDesc* member = selected(type, label)) {
      out_ << ": " << member->name << " = ";
      if (!value(*member->type)) return false;
    }
    out_ << '}';
    return true;
  }

  bool sequence(const TypeDesc& type) {
    std::uint32_t count = 0;
    return in_.read_length(count, least_size(*type.content)) && elements(*type.content, count);
  }

  bool elements(const TypeDesc& type, std::uint32_t count) {
    out_ << '[';
    for (std::uint32_t i = 0; i < count; ++i) {  // bound: steps_left_
      if (i != 0) out_ << ", ";
      if (!value(type)) return false;
    }
    out_ << ']';
    return in_.ok();
  }

  bool any_value() {
    TypeCode type;
    if (!decode(in_, type)) return false;
    out_ << "any(";
    if (!value(*type)) return false;
    out_ << ')';
    return true;
  }

  bool type_code() {
    TypeCode type;
    if (!decode(in_, type)) return false;
    out_ << "TypeCode(" << (type->id.empty() ? type->name : type->id) << ')';
    return true;
  }

  bool reference(const TypeDesc& type) {
    cdr::Reader ahead = in_;
    std::string_view id;
    std::uint32_t profiles = 0;
    if (!ahead.read_string(id) || !ahead.read(profiles) || !skip(in_, type)) return in_.fail(minor::bad_ior);
    if (profiles == 0) return out_ << "nil", true;
    out_ << "object(" << (id.empty() ? type.id : id) << ')';
    return true;
  }

  std::ostream& out_;
  cdr::Reader& in_;
  std::uint64_t steps_left_;
};

}  // namespace

bool print(std::ostream& out, cdr::Reader& reader, const TypeDesc& type) { return Printer(out, reader).value(type); }

void print(std::ostream& out, const std::shared_ptr<const Value>& value) {
  if (value == nullptr) {
    out << "null";
    return;
  }
  cdr::Writer writer;
  encode_value(writer, value);
  cdr::Reader reader(writer.bytes());
  if (!writer.ok() || !print(out, reader, value->_type_desc())) out << value->_type_desc().name << "{?}";
}

}  // namespace corelane::any
