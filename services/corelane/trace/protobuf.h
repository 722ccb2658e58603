// ProtoMessage encodes one message of Protocol Buffers, field by field. Wire format:
// protobuf.dev/programming-guides/encoding (varint 0, 64 bits 1, length-delimited 2).
// Threads: a value type. Allocates.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace corelane::tool {

class ProtoMessage {
 public:
  ProtoMessage& number(std::uint32_t field, std::uint64_t value) { return varint(field << 3).varint(value); }
  // For fields of type int64: negative values are ten bytes long.
  ProtoMessage& integer(std::uint32_t field, std::int64_t value) {
    return number(field, static_cast<std::uint64_t>(value));
  }
  ProtoMessage& real(std::uint32_t field, double value) {
    varint(field << 3 | 1);
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (int shift = 0; shift < 64; shift += 8) bytes_ += static_cast<char>(bits >> shift & 0xff);
    return *this;
  }
  ProtoMessage& text(std::uint32_t field, std::string_view value) {
    varint(field << 3 | 2).varint(value.size());
    bytes_ += value;
    return *this;
  }
  ProtoMessage& message(std::uint32_t field, const ProtoMessage& value) { return text(field, value.bytes_); }

  const std::string& bytes() const { return bytes_; }

 private:
  ProtoMessage& varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>((value & 0x7f) | 0x80);
    bytes_ += static_cast<char>(value);
    return *this;
  }

  std::string bytes_;
};

}  // namespace corelane::tool
