#include "orb/any/value_read.h"

#include "orb/any/indirection.h"
#include "orb/base/minor.h"

namespace corelane::any {
namespace {

constexpr std::uint32_t most_ids = 64;

// Returns true if an indirection follows; then only its offset is left to read.
bool at_indirection(cdr::Reader& in) {
  cdr::Reader ahead = in;
  std::uint32_t word = 0;
  return ahead.read(word) && word == indirection_tag && in.read(word);
}

// Reads a repository id or URL: a string or an indirection to one. Returns null after a failure.
const std::string_view* read_text(cdr::Reader& in, ReadValues& table) {
  if (!in.align(4)) return nullptr;
  const std::byte* const at = in.rest().data();
  if (at_indirection(in)) {
    const std::byte* const target = read_indirection(in);
    const auto seen = table.texts.find(target);
    if (target != nullptr && seen != table.texts.end()) return &seen->second;
    return in.fail(minor::bad_indirection), nullptr;
  }
  std::string_view text;
  return in.read_string(text) ? &(table.texts[at] = text) : nullptr;
}

bool read_list(cdr::Reader& in, ReadValues& table, ValueHeader& header) {
  const std::byte* const at = in.rest().data();
  if (at_indirection(in)) {
    const std::byte* const target = read_indirection(in);
    const auto seen = table.lists.find(target);
    if (target == nullptr || seen == table.lists.end()) return in.fail(minor::bad_indirection);
    header.ids = seen->second;
    return true;
  }
  std::uint32_t count = 0;
  if (!in.read_length(count, 8)) return false;
  if (count == 0 || count > most_ids) return in.fail(minor::bad_value_tag);
  std::vector<std::string_view> ids;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::string_view* id = read_text(in, table);
    if (id == nullptr) return false;
    ids.push_back(*id);
  }
  header.ids = table.lists[at] = std::move(ids);
  return true;
}

// Reads the header after the tag, and registers the value.
bool read_header(cdr::Reader& in, std::uint32_t tag, ValueHeader& header) {
  constexpr std::uint32_t known = codebase_flag | several_ids | chunked_flag;
  ReadValues& table = ReadValues::of(in);
  header.chunked = (tag & chunked_flag) != 0;
  const std::uint32_t ids = tag & several_ids;
  if (tag < cdr::Reader::least_value_tag || (tag - cdr::Reader::least_value_tag) > known || ids == 4)
    return in.fail(minor::bad_value_tag);
  if (in.chunk_level() != 0 && !header.chunked) return in.fail(minor::bad_value_tag);
  if (table.values.size() == most_values) return in.fail(minor::too_many_nodes);
  if ((tag & codebase_flag) != 0 && read_text(in, table) == nullptr) return false;
  if (ids == one_id) {
    const std::string_view* id = read_text(in, table);
    if (id == nullptr) return false;
    header.ids = {id, 1};
  }
  if (ids == several_ids && !read_list(in, table, header)) return false;
  ReadValues::Entry& entry = table.values[header.at];
  entry.level = in.chunk_level();
  if (header.ids.empty() && !entry.id.empty()) header.ids = {&entry.view, 1};
  return in.ok();
}

ValueStart begin_again(cdr::Reader& in, ValueHeader& header, bool between) {
  header.at = read_indirection(in);
  if (header.at == nullptr) return ValueStart::failed;
  if (between) in.await_chunk();
  ReadValues& table = ReadValues::of(in);
  if (table.values.contains(header.at)) return ValueStart::again;
  return in.fail(minor::bad_indirection), ValueStart::failed;
}

// Reads the tag of a value. Inside a chunked value the tag lies between chunks; null and indirections may also lie in a
// chunk.
bool read_tag(cdr::Reader& in, std::uint32_t& tag, const std::byte*& at, bool& between) {
  between = false;
  if (in.at_chunk_end()) {
    if (in.level_ended()) return in.fail(minor::bad_value_tag);
    in.leave_chunk();
    if (!in.read(tag)) return false;
    between = tag == null_tag || tag >= cdr::Reader::least_value_tag;
    at = in.rest().data() - sizeof tag;
    if (between) return true;
    if (!in.open_chunk(tag)) return false;
  }
  if (!in.align(4)) return false;
  at = in.rest().data();
  if (!in.read(tag)) return false;
  const bool may_be_inside = tag == null_tag || tag == indirection_tag;
  return in.chunk_level() == 0 || may_be_inside || in.fail(minor::bad_value_tag);
}

// Some peers (JacORB) omit the base in the TypeCode of a derived value, but still send its state.
bool lacks_base(const TypeDesc& declared, const TypeDesc& known) noexcept {
  return declared.kind == Kind::value && known.kind == Kind::value && declared.content == nullptr &&
         known.content != nullptr;
}

std::shared_ptr<Value> make_of(std::string_view id, const DeclaredValue& declared) {
  if (declared.make != nullptr && id == declared.type.id) return declared.make();
  const std::shared_ptr<ValueFactory> factory = find_factory(id);
  return factory == nullptr ? nullptr : factory->_make();
}

// Makes a value of the header's first type that can be made. `truncated`: this is not the most derived type.
std::shared_ptr<Value> make(cdr::Reader& in, const ValueHeader& header, const DeclaredValue& declared,
                            bool& truncated) {
  const ReadValues& table = ReadValues::of(in);
  if (const auto model = table.models.find(header.at); model != table.models.end())
    if (auto value = model->second->_fresh()) return value;
  for (const std::string_view& id : header.ids) {
    auto value = make_of(id, declared);
    truncated = &id != header.ids.data();
    if (value == nullptr) continue;
    if (value->_type_desc().id == id) return value;
    in.fail(minor::wrong_value_type);
    return nullptr;
  }
  in.fail(minor::no_value_factory);
  return nullptr;
}

bool decode_fresh(cdr::Reader& in, ValueHeader& header, const DeclaredValue& declared, std::shared_ptr<Value>& value) {
  bool truncated = false;
  declare(in, header, declared.type);
  const std::shared_ptr<Value> made = make(in, header, declared, truncated);
  if (made == nullptr) return false;
  if (truncated && !header.chunked) return in.fail(minor::no_value_factory);
  ReadValues& table = ReadValues::of(in);
  ReadValues::Entry& entry = table.values[header.at];
  entry.value = made;
  entry.copy = table.copy;
  enter_value(in, header);
  if (!made->_decode_state(in) || !in.ok()) return in.fail(minor::bad_value_state);
  if (!end_value(in, header, truncated)) return false;
  value = made;
  return true;
}

// Decodes a value that was so far only known as data: in an Any or in a truncated part.
bool decode_again(cdr::Reader& in, const std::byte* at, const DeclaredValue& declared, std::shared_ptr<Value>& value) {
  ReadValues& table = ReadValues::of(in);
  const ReadValues::Entry& entry = table.values[at];
  value = entry.value;
  if (value != nullptr) {
    if (entry.copy != table.copy) table.copies[entry.copy] = true;
    return true;
  }
  cdr::Reader there = reader_at(in, at);
  ValueHeader header;
  if (begin_value(there, header) != ValueStart::fresh || header.ids.empty()) return in.fail(minor::bad_indirection);
  return decode_fresh(there, header, declared, value) || in.fail(there);
}

}  // namespace

ReadValues::~ReadValues() {
  for (auto& [at, entry] : values)
    if (entry.value && (message.failed || !copies[entry.copy])) entry.value->_let_go();
}

ReadValues& ReadValues::of(cdr::Reader& reader) {
  cdr::Shared& shared = *reader.shared();
  if (!shared.values) shared.values = std::make_unique<ReadValues>(shared);
  return static_cast<ReadValues&>(*shared.values);
}

ValueStart begin_value(cdr::Reader& in, ValueHeader& header) {
  if (in.wide_form() != cdr::WideForm::counted) in.fail(minor::value_needs_giop_1_2);
  std::uint32_t tag = 0;
  bool between = false;
  if (!read_tag(in, tag, header.at, between)) return ValueStart::failed;
  if (tag == indirection_tag) return begin_again(in, header, between);
  if (tag != null_tag) return read_header(in, tag, header) ? ValueStart::fresh : ValueStart::failed;
  if (between) in.await_chunk();
  return ValueStart::null;
}

void declare(cdr::Reader& in, ValueHeader& header, const TypeDesc& declared) {
  if (!header.ids.empty()) return;
  ReadValues::Entry& entry = ReadValues::of(in).values[header.at];
  entry.id = declared.id;
  entry.view = entry.id;
  header.ids = {&entry.view, 1};
}

bool end_value(cdr::Reader& in, const ValueHeader& header, bool skip) {
  if (!header.chunked) return in.ok();
  const cdr::Reader::Level level(in);
  if (!level) return false;
  for (;;) {  // bound: each round reads at least four bytes
    if (in.level_ended()) return in.end_level_again(), true;
    if (!skip && !in.at_chunk_end()) return in.fail(minor::bad_value_state);
    in.leave_chunk();
    std::int32_t tag = 0;
    if (!in.read(tag)) return false;
    if (tag < 0) return in.end_level(tag);
    if (!skip) return in.fail(minor::bad_value_state);
    const auto word = static_cast<std::uint32_t>(tag);
    if (word == null_tag) {
      in.await_chunk();
    } else if (word < cdr::Reader::least_value_tag) {
      if (!in.open_chunk(word)) return false;
    } else {
      ValueHeader inner{.at = in.rest().data() - sizeof word};
      if (!read_header(in, word, inner)) return false;
      enter_value(in, inner);
      if (!end_value(in, inner, true)) return false;
    }
  }
}

cdr::Reader reader_at(const cdr::Reader& reader, const std::byte* value) {
  cdr::Reader same = reader;
  return reader.at_value(value, ReadValues::of(same).values[value].level);
}

const TypeDesc* type_of(const ValueHeader& header, const TypeDesc& declared, bool& truncated) {
  truncated = false;
  if (header.ids.empty()) return &declared;
  for (const std::string_view& id : header.ids) {
    truncated = &id != header.ids.data();
    const auto factory = find_factory(id);
    if (id == declared.id && !(factory && lacks_base(declared, factory->_type_desc()))) return &declared;
    if (factory) return &factory->_type_desc();
  }
  return nullptr;
}

bool decode_value(cdr::Reader& in, const DeclaredValue& declared, std::shared_ptr<Value>& value) {
  const cdr::Reader::Level level(in);
  if (!level) return false;
  ValueHeader header;
  switch (begin_value(in, header)) {
    case ValueStart::null:
      value.reset();
      return true;
    case ValueStart::again:
      return decode_again(in, header.at, declared, value);
    case ValueStart::fresh:
      return decode_fresh(in, header, declared, value);
    default:
      return false;
  }
}

}  // namespace corelane::any
