// The fixed header at the start of every GIOP message. CORBA 3.3 part 2, 9.4.1.
//
//   0   magic    "GIOP"
//   4   version  octet major, octet minor
//   6   flags    bit 0: byte order (1 is little); from 1.1 on bit 1: more fragments follow
//   7   type     octet
//   8   size     ulong, in the message's byte order: the bytes after this header
#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "orb/base/bytes.h"
#include "orb/base/expected.h"
#include "orb/cdr/reader.h"
#include "orb/cdr/writer.h"

namespace corelane::giop {

struct Version {
  std::uint8_t major = 1;
  std::uint8_t minor = 2;
  // Compare one number, always inline, because the path of a request checks its version several times.
  [[gnu::always_inline]] friend constexpr bool operator==(Version a, Version b) noexcept {
    return a.number() == b.number();
  }
  [[gnu::always_inline]] friend constexpr auto operator<=>(Version a, Version b) noexcept {
    return a.number() <=> b.number();
  }
  [[gnu::always_inline]] constexpr int number() const noexcept { return major << 8 | minor; }
};
inline constexpr Version giop_1_0{1, 0};
inline constexpr Version giop_1_1{1, 1};
inline constexpr Version giop_1_2{1, 2};

// Returns how wide characters are encoded in a message of this version.
constexpr cdr::WideForm wide_form_of(Version version) noexcept {
  if (version >= giop_1_2) return cdr::WideForm::counted;
  return version == giop_1_1 ? cdr::WideForm::fixed : cdr::WideForm::none;
}

enum class MessageType : std::uint8_t {
  request = 0,
  reply = 1,
  cancel_request = 2,
  locate_request = 3,
  locate_reply = 4,
  close_connection = 5,
  message_error = 6,
  fragment = 7,  // from 1.1 on; the Assembler joins fragments
};

inline constexpr std::size_t header_size = 12;

struct MessageHeader {
  Version version;
  ByteOrder order = native_order;
  bool more_fragments = false;
  MessageType type = MessageType::request;
  std::uint32_t body_size = 0;
};

// Parses any header, see parse_header().
Expected<MessageHeader> parse_any_header(Bytes bytes) noexcept;

// Returns whether the bytes begin with the usual header: of GIOP 1.2, in this machine's byte order, without fragments.
// Sets it then.
inline bool parse_usual_header(Bytes bytes, MessageHeader& header) noexcept {
  constexpr std::array<std::uint8_t, 8> usual{'G', 'I', 'O', 'P', 1, 2, static_cast<std::uint8_t>(native_order), 0};
  constexpr std::array<std::uint8_t, 8> without_type{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0};
  std::uint64_t first = 0;
  if (bytes.size() < header_size) return false;
  std::memcpy(&first, bytes.data(), sizeof first);
  std::memcpy(&header.body_size, bytes.data() + sizeof first, sizeof header.body_size);
  asm(""
      : "+r"(first), "+r"(header.body_size));  // as in cdr::Reader: another process may write the memory of the bytes
  if ((first & std::bit_cast<std::uint64_t>(without_type)) != std::bit_cast<std::uint64_t>(usual)) return false;
  header.type = static_cast<MessageType>(std::bit_cast<std::array<std::uint8_t, 8>>(first)[7]);
  return header.type <= MessageType::fragment;
}

// Parses exactly header_size bytes. Refused with COMM_FAILURE: another magic, a version other than 1.0 to 1.2, and a
// type that the version lacks. The caller checks the size.
inline Expected<MessageHeader> parse_header(Bytes bytes) noexcept {
  if (MessageHeader header; parse_usual_header(bytes, header)) return header;
  return parse_any_header(bytes);
}

// One whole message with joined fragments: `bytes` is its (first) header and its body.
struct Message {
  MessageHeader header;
  Bytes bytes;
  std::uint32_t refusal = 0;  // not 0: the minor code of the exceeded limit; `bytes` is only the beginning

  // Returns a reader of the body, aligned from the start of the header.
  cdr::Reader body(cdr::Environment* environment = nullptr) const noexcept {
    cdr::Reader reader(bytes.subspan(header_size), header.order, header_size, environment);
    reader.set_wide_form(wide_form_of(header.version));
    return reader;
  }
};

// Parses bytes that hold one whole message, such as a recorded one. No fragments.
Expected<Message> parse_message(Bytes bytes) noexcept;

// Empties the writer and starts a message; finish() writes its size after the body.
void begin_message(cdr::Writer& writer, MessageType type, Version version, ByteOrder order = native_order);
// Returns the bytes that begin_message() writes. GIOP 1.2 needs no other state of the writer than clear() sets.
constexpr std::array<std::byte, header_size> header_bytes(MessageType type, Version version, ByteOrder order) noexcept {
  // finish() writes the size after the type.
  return {std::byte{'G'},           std::byte{'I'},           std::byte{'O'},   std::byte{'P'},
          std::byte{version.major}, std::byte{version.minor}, std::byte(order), std::byte(type)};
}
// Returns false if the writer has failed; then nothing of the message may be sent.
bool finish(cdr::Writer& writer) noexcept;

// Write the messages without a body.
void write_close_connection(cdr::Writer& writer, Version version, ByteOrder order = native_order);
void write_message_error(cdr::Writer& writer, Version version, ByteOrder order = native_order);

}  // namespace corelane::giop
