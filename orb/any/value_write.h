// Encodes values. CORBA 3.3 part 2, 9.3.4.
//
// A value that was already written in the message becomes an indirection; so does a repeated repository id. Custom and
// truncatable values are encoded in chunks, and so are the values inside them. Every value is written with its
// repository id. A truncatable one is also written with the ids of the bases to which it may be truncated. Limits: 64
// levels; GIOP 1.2. Threads: none.
#pragma once

#include <map>
#include <memory>
#include <string_view>

#include "orb/any/value.h"

namespace corelane::any {

// Encodes a value; null is a null value.
void encode_value(cdr::Writer& writer, const std::shared_ptr<const Value>& value);

// The steps of encode_value(), for values that are known only as data.
struct ValueMark {
  std::size_t at;  // position of the tag
  bool chunked;
};
ValueMark begin_value(cdr::Writer& writer, const TypeDesc& type);
void end_value(cdr::Writer& writer, const ValueMark& mark);
void write_null_value(cdr::Writer& writer);
void write_value_again(cdr::Writer& writer, std::size_t at);

// State that the values of one message share.
struct WrittenValues final : cdr::WriterTable {
  struct Entry {
    std::size_t at;
    std::shared_ptr<const Value> value;  // kept alive, so that no other value gets its address
  };
  std::map<const Value*, Entry> values;
  std::map<std::string_view, std::size_t> ids;  // views of constants
  int depth = 0;

  static WrittenValues& of(cdr::Writer& writer);
};

}  // namespace corelane::any
