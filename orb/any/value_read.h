// Decodes values. CORBA 3.3 part 2, 9.3.4.
//
// Fixed limits: 64 levels, which include all other nesting, and `most_values` values in a message. An indirection leads
// back to a value, or a repository id, that began in the same message. A value of unknown type is truncated to its
// first known base, if its sender allows that. Other values may still refer to the part that was cut off.
//
// Values that the program never sees drop their references to other values, so that no cycle of them leaks. These are
// the values of a malformed message, and those of a message whose reading ended early (cdr::Reader::Attempt). Values
// that were made only to be written again do so, too. Threads: none.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orb/any/value.h"

namespace corelane::any {

inline constexpr std::size_t most_values = 262'144;
inline constexpr std::size_t most_copied_bytes =
    16 * 1024 * 1024;  // bytes copied because a message's Anys refer to values outside them

// The tags and flags of the encoding.
inline constexpr std::uint32_t null_tag = 0;
inline constexpr std::uint32_t codebase_flag = 1;
inline constexpr std::uint32_t one_id = 2;
inline constexpr std::uint32_t several_ids = 6;
inline constexpr std::uint32_t chunked_flag = 8;
// TypeDesc::modifier of values.
inline constexpr std::int16_t custom_value = 1;
inline constexpr std::int16_t abstract_value = 2;
inline constexpr std::int16_t truncatable_value = 3;

// What the declaration of a value's place says. `make`: for types that need no factory.
struct DeclaredValue {
  const TypeDesc& type;
  std::shared_ptr<Value> (*make)() = nullptr;
};

// Decodes a value. Null with a good reader: a null value. The caller checks that the value has the declared type.
bool decode_value(cdr::Reader& reader, const DeclaredValue& declared, std::shared_ptr<Value>& value);

// The steps of decode_value(), for values that are known only as data.

struct ValueHeader {
  const std::byte* at = nullptr;  // position of its tag; for a repeated value, of its first tag
  bool chunked = false;
  std::span<const std::string_view> ids{};  // most derived first; empty: the declared type's
};
enum class ValueStart : std::uint8_t { failed, null, again, fresh };

ValueStart begin_value(cdr::Reader& reader, ValueHeader& header);
// Records the declared type of a new value, for a later read through an indirection.
void declare(cdr::Reader& reader, ValueHeader& header, const TypeDesc& declared);
// Call it after the header of a new value.
inline void enter_value(cdr::Reader& reader, const ValueHeader& header) {
  if (header.chunked) reader.enter_chunks();
}
// Call it after the state. `skip`: skips the rest of the state; otherwise a rest is refused.
bool end_value(cdr::Reader& reader, const ValueHeader& header, bool skip);
// Returns a reader at the start of this value.
cdr::Reader reader_at(const cdr::Reader& reader, const std::byte* value);

// Returns the type by which to read a new value: the declared one or one with a factory. Null: no type is known.
// `truncated`: it is not the first type of the header.
const TypeDesc* type_of(const ValueHeader& header, const TypeDesc& declared, bool& truncated);

// State that the values of one message share.
struct ReadValues final : cdr::Shared::Table {
  struct Entry {
    int level = 0;            // levels of chunked values around it
    std::string id{};         // the declared type's, if the value came without an id
    std::string_view view{};  // a view of `id`
    std::shared_ptr<Value> value{};
    std::size_t copy = 0;  // see Copying
  };
  explicit ReadValues(const cdr::Shared& of_message) : message(of_message) {}
  ~ReadValues() override;

  const cdr::Shared& message;
  std::map<const std::byte*, Entry> values;
  std::map<const std::byte*, std::string_view> texts;
  std::map<const std::byte*, std::vector<std::string_view>> lists;
  std::size_t copied_bytes = 0;
  // Values that were made only to be written again. The program does not see them, unless something refers to them
  // later. Each group has a number; the element says whether one of its values was handed out.
  std::vector<bool> copies{true};                   // 0: all other values
  std::size_t copy = 0;                             // the group of new values
  std::map<const std::byte*, const Value*> models;  // copy_graph(): the original of each value

  static ReadValues& of(cdr::Reader& reader);
};

// Marks the values that are made while it lives as made only to be written again.
class Copying {
 public:
  explicit Copying(ReadValues& values) : values_(values), before_(values.copy) {
    values.copy = values.copies.size();
    values.copies.push_back(false);
  }
  ~Copying() { values_.copy = before_; }
  Copying(const Copying&) = delete;
  Copying& operator=(const Copying&) = delete;

 private:
  ReadValues& values_;
  const std::size_t before_;
};

}  // namespace corelane::any
