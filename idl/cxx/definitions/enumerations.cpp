// Writes enumerations, bitmasks and bitsets.
#include <algorithm>
#include <bit>

#include "idl/cxx/definitions/types.h"
#include "idl/cxx/spelling/names.h"

namespace corelane::idl::cxx {
namespace {

const Enumeration& enumeration_of(const Spelling& spelling, DefId id) {
  return std::get<Enumeration>(spelling.model()[id].body);
}

std::string_view unsigned_of(std::uint16_t bits) {
  if (bits <= 8) return "std::uint8_t";
  if (bits <= 16) return "std::uint16_t";
  return bits <= 32 ? "std::uint32_t" : "std::uint64_t";
}

// Returns whether each value equals its index. Then the value itself can be sent.
bool is_dense(const Enumeration& enumeration) {
  for (std::size_t i = 0; i < enumeration.enumerators.size(); ++i)
    if (enumeration.enumerators[i].value != i) return false;
  return true;
}

std::string power_of_two(std::uint16_t position) { return std::to_string(std::uint64_t{1} << position) + "U"; }

std::string mask_of(std::uint16_t bits) { return std::to_string(~std::uint64_t{0} >> (64 - bits)) + "U"; }

}  // namespace

void declare_enumeration(const Spelling& spelling, DefId id, Text& out) {
  const Enumeration& enumeration = enumeration_of(spelling, id);
  const bool dense = is_dense(enumeration);
  std::vector<std::string> enumerators;
  for (const Enumerator& enumerator : enumeration.enumerators)
    enumerators.push_back(escaped(enumerator.name, NameUse::plain) +
                          (dense ? "" : " = " + std::to_string(enumerator.value)));
  out.list(fill("enum class $0 : $1 { ", {spelling.name(id), unsigned_of(enumeration.bit_bound)}), enumerators, " };");
}

void define_enumeration(const Spelling& spelling, DefId id, Text& out) {
  const Enumeration& enumeration = enumeration_of(spelling, id);
  const std::string name = spelling.local_name(id);
  const std::string count = std::to_string(enumeration.enumerators.size());
  const bool dense = is_dense(enumeration);
  if (!dense) {
    std::vector<std::string> values;
    for (std::size_t i = 0; i < enumeration.enumerators.size(); ++i) values.push_back(spelling.enumerator(id, i));
    out.list(fill("static constexpr $0 _enumerators_of_$1[] = {", {name, spelling.model()[id].name}), values, "};\n");
  }
  const std::string values = dense ? "" : "_enumerators_of_" + spelling.model()[id].name;
  out.line("void encode(::corelane::cdr::Writer& _writer, $0 _value) {", {name});
  out.line("  ::corelane::cdr::write_enum(_writer, _value$0);\n}", {dense ? "" : ", " + values});
  out.line("bool decode(::corelane::cdr::Reader& _reader, $0& _value) {", {name});
  out.line("  return ::corelane::cdr::read_enum(_reader, _value, $0);\n}\n", {dense ? count : values});
}

void declare_bitmask(const Spelling& spelling, DefId id, Text& out) {
  const auto& mask = std::get<Bitmask>(spelling.model()[id].body);
  std::vector<std::string> bits;
  for (const Bit& bit : mask.bits)
    bits.push_back(escaped(bit.name, NameUse::plain) + " = " + power_of_two(bit.position));
  out.list(fill("enum class $0 : $1 { ", {spelling.name(id), unsigned_of(mask.bit_bound)}), bits, " };");
}

void bitmask_functions(const Spelling& spelling, DefId id, Text& out) {
  const auto& mask = std::get<Bitmask>(spelling.model()[id].body);
  const std::string name = spelling.local_name(id);
  const std::string_view holder = unsigned_of(mask.bit_bound);
  for (const std::string_view op : {"|", "&", "^"}) {
    // The bits that two masks have in common can be tested: if (mask & Mask::flag).
    out.open("constexpr $2 operator$1($0 _a, $0 _b) {", {name, op, op == "&" ? "::IDL::bits<" + name + ">" : name});
    out.line("return static_cast<$0>(static_cast<$2>(_a) $1 static_cast<$2>(_b));", {name, op, holder});
    out.close("}");
    out.line("constexpr $0& operator$1=($0& _a, $0 _b) { return _a = _a $1 _b; }", {name, op});
  }
  out.open("constexpr $0 operator~($0 _a) {", {name});
  out.line("return static_cast<$0>(~static_cast<$1>(_a) & $2);", {name, holder, mask_of(mask.bit_bound)});
  out.close("}");
}

void define_bitmask(const Spelling& spelling, DefId id, Text& out) {
  const auto& mask = std::get<Bitmask>(spelling.model()[id].body);
  const std::string name = spelling.local_name(id);
  out.line("void encode(::corelane::cdr::Writer& _writer, $0 _value) {", {name});
  out.line("  _writer.write(static_cast<$0>(_value));\n}", {unsigned_of(mask.bit_bound)});
  out.line("bool decode(::corelane::cdr::Reader& _reader, $0& _value) {", {name});
  out.line("  return ::corelane::cdr::read_bits<$0>(_reader, _value, $1);\n}\n",
           {unsigned_of(mask.bit_bound), mask_of(mask.bit_bound)});
}

void write_bit_bounds(const Spelling& spelling, Text& out) {
  const Model& model = spelling.model();
  Text rows;
  for (std::size_t i = 0; i < model.definitions.size(); ++i) {
    const auto id = static_cast<DefId>(i);
    const auto* enumeration = std::get_if<Enumeration>(&model[id].body);
    const auto* mask = std::get_if<Bitmask>(&model[id].body);
    if (!model.is_main(id) || (enumeration == nullptr && mask == nullptr)) continue;
    const std::uint16_t bits = enumeration != nullptr ? enumeration->bit_bound : mask->bit_bound;
    if (bits >= 8 && std::has_single_bit(bits)) continue;
    rows.open("template <>\nstruct traits<$0> : value_traits<$0> {", {spelling.qualified(id)});
    rows.line("using bit_bound = std::integral_constant<std::uint16_t, $0>;", {std::to_string(bits)});
    rows.close("};");
  }
  if (!rows.str().empty()) out.line("\nnamespace IDL {\n$0}  // namespace IDL", {rows.str()});
}

// Declares a class with all bits in one number, which is in the outermost base. Each field reads and writes some of the
// bits.
void declare_bitset(const Spelling& spelling, DefId id, Text& out) {
  const auto& set = std::get<Bitset>(spelling.model()[id].body);
  const bool is_root = set.base == DefId::none;
  out.line();
  out.open("class $0$1 {", {spelling.name(id), is_root ? "" : " : public " + spelling.qualified(set.base)});
  out.label("public:");
  for (const Bitfield& field : set.fields) {
    if (field.name.empty()) continue;
    const std::string name = escaped(field.name, NameUse::plain), type = spelling.type(field.type);
    const std::string position = std::to_string(field.position), bits = std::to_string(field.bits);
    out.line("$0 $1() const { return ::corelane::cdr::bits_at<$0, $2, $3>(_bits); }", {type, name, position, bits});
    out.line("void $1($0 _value) { ::corelane::cdr::set_bits_at<$2, $3>(_bits, _value); }",
             {type, name, position, bits});
  }
  out.line("friend bool operator==(const $0&, const $0&) = default;", {spelling.name(id)});
  if (is_root) out.line("\nstd::uint64_t _bits = 0;");
  out.close("};");
}

void define_bitset(const Spelling& spelling, DefId id, Text& out) {
  const auto& set = std::get<Bitset>(spelling.model()[id].body);
  const std::string name = spelling.local_name(id);
  const std::string_view holder = unsigned_of(set.bits);
  out.line("void encode(::corelane::cdr::Writer& _writer, const $0& _value) {", {name});
  out.line("  _writer.write(static_cast<$0>(_value._bits));\n}", {holder});
  out.line("bool decode(::corelane::cdr::Reader& _reader, $0& _value) {", {name});
  out.line("  return ::corelane::cdr::read_bits<$0>(_reader, _value._bits, $1);\n}\n", {holder, mask_of(set.bits)});
}

}  // namespace corelane::idl::cxx
