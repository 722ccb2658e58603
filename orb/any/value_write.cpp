#include "orb/any/value_write.h"

#include "orb/any/indirection.h"
#include "orb/any/value_read.h"
#include "orb/base/minor.h"

namespace corelane::any {
namespace {

bool is_chunked(const TypeDesc& type) {
  return type.kind == Kind::value && (type.modifier == custom_value || type.modifier == truncatable_value);
}

void write_id(cdr::Writer& writer, std::string_view id) {
  auto& ids = WrittenValues::of(writer).ids;
  if (const auto seen = ids.find(id); seen != ids.end()) return write_indirection(writer, seen->second);
  writer.align(4);
  ids.emplace(id, writer.size());
  writer.write_string(id);
}

// Returns the type to which a value of this type may be truncated; null: none.
const TypeDesc* truncated(const TypeDesc& type) {
  return type.kind == Kind::value && type.modifier == truncatable_value ? type.content : nullptr;
}

void write_ids(cdr::Writer& writer, const TypeDesc& type) {
  std::size_t count = 0;
  for (const TypeDesc* base = &type; base != nullptr; base = truncated(*base)) ++count;
  writer.write_length(count);
  for (const TypeDesc* base = &type; base != nullptr; base = truncated(*base)) write_id(writer, base->id);
}

}  // namespace

WrittenValues& WrittenValues::of(cdr::Writer& writer) {
  if (!writer.table()) writer.table() = std::make_unique<WrittenValues>();
  return static_cast<WrittenValues&>(*writer.table());
}

ValueMark begin_value(cdr::Writer& writer, const TypeDesc& type) {
  writer.leave_chunk();
  writer.align(4);
  const ValueMark mark{writer.size(), writer.chunk_level() != 0 || is_chunked(type)};
  const bool several = truncated(type) != nullptr;
  writer.write(cdr::Reader::least_value_tag | (several ? several_ids : one_id) | (mark.chunked ? chunked_flag : 0));
  several ? write_ids(writer, type) : write_id(writer, type.id);
  if (mark.chunked) writer.begin_chunks();
  return mark;
}

void end_value(cdr::Writer& writer, const ValueMark& mark) {
  if (mark.chunked) writer.end_chunks();
}

void write_null_value(cdr::Writer& writer) { writer.write(null_tag); }
void write_value_again(cdr::Writer& writer, std::size_t at) { write_indirection(writer, at); }

void encode_value(cdr::Writer& writer, const std::shared_ptr<const Value>& value) {
  if (writer.wide_form() != cdr::WideForm::counted) return writer.fail(ErrorKind::marshal, minor::value_needs_giop_1_2);
  if (value == nullptr) return write_null_value(writer);
  WrittenValues& written = WrittenValues::of(writer);
  if (const auto seen = written.values.find(value.get()); seen != written.values.end())
    return write_value_again(writer, seen->second.at);
  if (written.depth == cdr::Reader::max_depth) return writer.fail(ErrorKind::imp_limit, minor::too_deep);
  ++written.depth;
  const ValueMark mark = begin_value(writer, value->_type_desc());
  written.values.emplace(value.get(), WrittenValues::Entry{mark.at, value});
  value->_encode_state(writer);
  end_value(writer, mark);
  --written.depth;
}

}  // namespace corelane::any
