// Values on their way out. CORBA 3.3 part 2, 9.3.4.
//
// A value that was written before in the same message becomes an indirection, and so does its repository id. Custom and
// truncatable types travel in chunks, and so does whatever stands inside them. Every value is written with its
// repository id, truncatable ones with those of the bases that they may be cut down to. Limits: 64 levels; GIOP 1.2.
// Threads: none.
#pragma once

#include <map>
#include <memory>
#include <string_view>

#include "orb/any/value.h"

namespace corelane::any {

// Null: a null value.
void encode_value(cdr::Writer& writer, const std::shared_ptr<const Value>& value);

// The pieces of that, for values that are known as data only.
struct ValueMark {
  std::size_t at;  // where the tag stands
  bool chunked;
};
ValueMark begin_value(cdr::Writer& writer, const TypeDesc& type);
void end_value(cdr::Writer& writer, const ValueMark& mark);
void write_null_value(cdr::Writer& writer);
void write_value_again(cdr::Writer& writer, std::size_t at);

// What a message's values share.
struct WrittenValues final : cdr::WriterTable {
  struct Entry {
    std::size_t at;
    std::shared_ptr<const Value> value;  // so that nothing else gets its address while the message is made
  };
  std::map<const Value*, Entry> values;
  std::map<std::string_view, std::size_t> ids;  // of constants
  int depth = 0;

  static WrittenValues& of(cdr::Writer& writer);
};

}  // namespace corelane::any
