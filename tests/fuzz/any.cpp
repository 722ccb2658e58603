// Fuzz target: any bytes are an Any or are refused. An accepted Any is printed, sent in another byte order and
// alignment, and read back with the same type. The first byte selects byte order and alignment.
#include "orb/any/any.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <sstream>
#include <vector>

#include "orb/any/type_codec.h"

using namespace corelane;

namespace {

void check_type(cdr::Reader reader) {
  any::TypeCode type;
  if (!decode(reader, type)) return;
  if (!equal(*type, *type) || !equivalent(*type, *type)) std::abort();
}

void check_value(cdr::Reader reader, ByteOrder other, std::size_t offset) {
  any::Any value;
  if (!decode(reader, value)) return;
  cdr::Writer writer(other, offset);
  encode(writer, value);
  if (!writer.ok()) return;  // it is nested too deeply to be sent
  const std::vector<std::byte> sent = writer.to_vector();
  cdr::Reader again(sent, other, offset);
  any::Any back;
  if (!decode(again, back) || !equivalent(*back.type_code(), *value.type_code())) std::abort();
  std::ostringstream text;
  print(text, back);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const ByteOrder order = data[0] % 2 == 0 ? ByteOrder::little : ByteOrder::big;
  const ByteOrder other = order == ByteOrder::little ? ByteOrder::big : ByteOrder::little;
  const std::size_t offset = data[0] / 2 % 8;
  const cdr::Reader reader(std::as_bytes(std::span(data + 1, size - 1)), order, offset);
  check_type(reader);
  check_value(reader, other, 7 - offset);
  return 0;
}
