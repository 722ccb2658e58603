// Encodes long double: 16 bytes of IEEE 754 binary128, aligned to 8. CORBA 3.3 part 2, 9.3.1.4.
//
// Every long double of x86 (64 bits of precision) is encoded exactly. A decoded value is rounded to nearest, ties to
// even. It is never out of range, because both formats have 15 bits of exponent. Infinities and NaNs are preserved.
// Threads: none.
#pragma once

#include <cstdint>

#include "orb/cdr/reader.h"
#include "orb/cdr/writer.h"

namespace corelane::cdr {

// Sign, 15 bits of exponent (bias 16383), 112 of fraction.
struct Binary128 {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend bool operator==(const Binary128&, const Binary128&) = default;
};

Binary128 to_binary128(long double value) noexcept;
long double from_binary128(Binary128 bits) noexcept;

inline void encode(Writer& writer, long double value) {
  const auto [high, low] = to_binary128(value);
  const bool big = writer.order() == ByteOrder::big;
  writer.write(big ? high : low);
  writer.write(big ? low : high);
}
inline bool decode(Reader& reader, long double& value) noexcept {
  std::uint64_t first = 0, second = 0;
  if (!reader.read(first) || !reader.read(second)) return false;
  const bool big = reader.order() == ByteOrder::big;
  value = from_binary128({big ? first : second, big ? second : first});
  return true;
}

}  // namespace corelane::cdr
