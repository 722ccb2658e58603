#include "orb/any/any.h"

#include <ostream>

#include "orb/any/type_codec.h"
#include "orb/any/walk.h"
#include "orb/base/minor.h"

namespace corelane::any {
namespace {

bool may_hold_references(const TypeDesc& type) noexcept {
  switch (unaliased(type).kind) {
    case Kind::objref:
    case Kind::structure:
    case Kind::exception:
    case Kind::union_:
    case Kind::sequence:
    case Kind::array:
    case Kind::any:
    case Kind::value:
    case Kind::value_box:
    case Kind::abstract_interface:
      return true;
    default:
      return false;
  }
}

constexpr std::size_t largest_alignment = 8;

// Returns whether bytes with the first code sets may be copied into a message with the second.
bool are_compatible(const cdr::CodeSets& bytes, const cdr::CodeSets& message) noexcept {
  const bool checked_before = bytes.chars == cdr::CharForm::utf_8 && message.chars == cdr::CharForm::native;
  return (bytes.chars == message.chars || checked_before) &&
         (message.wide == cdr::WideUse::agreed || message.wide == bytes.wide);
}

}  // namespace

cdr::Reader Any::Wire::reader() const noexcept {
  cdr::Reader reader(bytes, order, phase, origin.get());
  reader.set_wide_form(wide_form);
  reader.set_code_sets(code_sets);
  return reader;
}

void Any::Wire::write(cdr::Writer& writer, const TypeDesc& type) const {
  if (holds_values && writer.chunk_level() != 0) return rewrite(writer, type);
  writer.align(1);  // opens the next chunk, if one is due
  const bool as_is = writer.order() == order && writer.offset() % largest_alignment == phase &&
                     writer.wide_form() == wide_form && are_compatible(code_sets, writer.code_sets());
  if (!as_is) return rewrite(writer, type);
  if (code_sets.chars != cdr::CharForm::native) writer.note_code_set();  // the bytes may contain text
  writer.write_bytes(bytes);
}

void Any::Wire::rewrite(cdr::Writer& writer, const TypeDesc& type) const {
  cdr::Reader in = reader();
  if (!transfer(in, type, &writer)) writer.fail(in.error().kind, in.minor());
}

void Any::write_value(cdr::Writer& writer) const {
  if (value_ != nullptr) value_->write(writer, *type_);
}

// Takes the bytes unchanged, or copies the value if it depends on its surroundings: chunks and shared values.
bool Any::Wire::take(cdr::Reader& in, const TypeDesc& type) {
  if (!in.complete()) return false;
  order = in.order();
  wide_form = in.wide_form();
  code_sets = in.code_sets();
  phase = in.offset() % largest_alignment;
  const Bytes rest = in.rest();
  cdr::Reader again = in;
  if (!skip(in, type, holds_values)) return false;
  if (!holds_values && in.chunk_level() == 0) {
    const Bytes taken = rest.first(rest.size() - in.remaining());
    bytes.assign(taken.begin(), taken.end());
    // The sender may still write the memory of the skipped bytes, so check the copy.
    cdr::Reader copied = reader();
    bool values = false;
    if (!skip(copied, type, values)) return in.fail(copied);
    return (!values && copied.remaining() == 0) || in.fail(minor::trailing_bytes);
  }
  again.share(in);
  cdr::Writer copy(order);
  copy.set_wide_form(wide_form);
  copy.set_code_sets(code_sets);
  if (!transfer(again, type, &copy)) return in.fail(again);
  if (!copy.ok()) return in.fail(copy.error().kind, copy.error().minor);
  bytes = copy.to_vector();
  phase = 0;
  return true;
}

bool Any::read_value(cdr::Reader& reader, TypeCode type) {
  auto wire = std::make_shared<Wire>();
  if (!wire->take(reader, *type)) return false;
  if (may_hold_references(*type) && reader.environment() != nullptr) wire->origin = reader.environment()->share();
  type_ = std::move(type);
  value_ = std::move(wire);
  return true;
}

bool Any::retype(TypeCode type) {
  if (!equivalent(*type_, *type)) return false;
  type_ = std::move(type);
  return true;
}

void encode(cdr::Writer& writer, const Any& any) {
  encode(writer, any.type_code());
  any.write_value(writer);
}

bool decode(cdr::Reader& reader, Any& any) {
  const cdr::Reader::Level level(reader);
  TypeCode type;
  return level && decode(reader, type) && any.read_value(reader, std::move(type));
}

void print(std::ostream& out, const Any& any) {
  out << "any(";
  const bool shown = any.with_bytes([&](cdr::Reader& reader) { return print(out, reader, *any.type_code()); });
  out << (shown || !any.has_value() ? ")" : "?)");
}

}  // namespace corelane::any
