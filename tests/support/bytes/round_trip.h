// Passes values through bytes and back, in both byte orders, and through text.
#pragma once

#include <catch2/catch.hpp>
#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

#include "orb/cdr/reader.h"
#include "orb/cdr/writer.h"
#include "orb/corba/any.h"

namespace corelane::test {

inline ByteOrder any_order() { return GENERATE(ByteOrder::little, ByteOrder::big); }

template <typename... T>
std::vector<std::byte> bytes_of(ByteOrder order, const T&... values) {
  cdr::Writer writer(order);
  (encode(writer, values), ...);
  REQUIRE(writer.ok());
  return writer.to_vector();
}

// Reads the values, and checks that they use all of the bytes.
template <typename... T>
void read_into(const std::vector<std::byte>& bytes, ByteOrder order, T&... values) {
  cdr::Reader reader(bytes, order);
  REQUIRE((decode(reader, values) && ...));
  CHECK(reader.remaining() == 0);
}

template <typename T>
T through_bytes(const T& value, ByteOrder order) {
  T out{};
  read_into(bytes_of(order, value), order, out);
  return out;
}

template <typename T>
CORBA::Any any_of(const T& value) {
  CORBA::Any any;
  any <<= value;
  return any;
}

template <typename T>
std::string text(const T& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

}  // namespace corelane::test
