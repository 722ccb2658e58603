// Values that arrive. CORBA 3.3 part 2, 9.3.4.
//
// Within limits that nothing on the wire moves: 64 levels, which count together with all other nesting, and
// `most_values` values in a message. An indirection leads back to a value, or repository id, that began in the same
// message. A value whose type is unknown is cut down to the first of its bases that is known, where its sender allows
// that; what is cut off may still be referred to. Values that the program never sees let go of each other, so that no
// circle of them is left behind: those of a message that turns out malformed, or whose reading ends early
// (cdr::Reader::Attempt), and those that were made to be written again. Threads: none.
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
    16 * 1024 * 1024;  // of what Anys of a message refer to outside of them

// The words of the encoding.
inline constexpr std::uint32_t null_tag = 0;
inline constexpr std::uint32_t codebase_flag = 1;
inline constexpr std::uint32_t one_id = 2;
inline constexpr std::uint32_t several_ids = 6;
inline constexpr std::uint32_t chunked_flag = 8;
// TypeDesc::modifier of values.
inline constexpr std::int16_t custom_value = 1;
inline constexpr std::int16_t abstract_value = 2;
inline constexpr std::int16_t truncatable_value = 3;

// What the place of a value says of it. `make`: for types that need no factory.
struct DeclaredValue {
  const TypeDesc& type;
  std::shared_ptr<Value> (*make)() = nullptr;
};

// Null and a good reader: a null value. That it has the declared type is for the caller to see.
bool decode_value(cdr::Reader& reader, const DeclaredValue& declared, std::shared_ptr<Value>& value);

// The pieces of that, for values that are known as data only.

struct ValueHeader {
  const std::byte* at = nullptr;  // where its tag stands; of a value that comes again, the first one's
  bool chunked = false;
  std::span<const std::string_view> ids{};  // most derived first; empty: the declared type's
};
enum class ValueStart : std::uint8_t { failed, null, again, fresh };

ValueStart begin_value(cdr::Reader& reader, ValueHeader& header);
// What the place of a fresh one declares, for whoever comes back to it from another.
void declare(cdr::Reader& reader, ValueHeader& header, const TypeDesc& declared);
// Behind the header of a fresh one.
inline void enter_value(cdr::Reader& reader, const ValueHeader& header) {
  if (header.chunked) reader.enter_chunks();
}
// Behind the state. `skip`: what is left of it is skipped, else refused.
bool end_value(cdr::Reader& reader, const ValueHeader& header, bool skip);
// The same value again.
cdr::Reader reader_at(const cdr::Reader& reader, const std::byte* value);

// The type that a fresh value is to be read as: the declared one or one with a factory. Null: none is known.
// `truncated`: it is not the first.
const TypeDesc* type_of(const ValueHeader& header, const TypeDesc& declared, bool& truncated);

// What a message's values share.
struct ReadValues final : cdr::Shared::Table {
  struct Entry {
    int level = 0;            // of chunked values around it
    std::string id{};         // of the type that its place declares, where it came without one
    std::string_view view{};  // of that
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
  // Values that were made only to write them again, which nobody sees unless something refers to them later: each row
  // of them by a number, and whether one of it was handed out.
  std::vector<bool> copies{true};                   // 0: all others
  std::size_t copy = 0;                             // what is made now
  std::map<const std::byte*, const Value*> models;  // copy_graph(): what each value is a copy of

  static ReadValues& of(cdr::Reader& reader);
};

// What is made while it lives is made to be written again.
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
