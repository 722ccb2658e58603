// The fixed header that opens every GIOP message. CORBA 3.3 part 2, 9.4.1.
//
//   0   magic    "GIOP"
//   4   version  octet major, octet minor
//   6   flags    bit 0: byte order (1 is little); from 1.1 on bit 1: more fragments follow
//   7   type     octet
//   8   size     ulong, in the message's byte order: the bytes after this header
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

#include "orb/base/bytes.h"
#include "orb/base/expected.h"
#include "orb/cdr/reader.h"
#include "orb/cdr/writer.h"

namespace corelane::giop {

struct Version {
  std::uint8_t major = 1;
  std::uint8_t minor = 2;
  friend constexpr bool operator==(Version a, Version b) noexcept { return a.number() == b.number(); }
  // One comparison of numbers: a request is judged by its version in several places.
  friend constexpr auto operator<=>(Version a, Version b) noexcept { return a.number() <=> b.number(); }
  constexpr int number() const noexcept { return major << 8 | minor; }
};
inline constexpr Version giop_1_0{1, 0};
inline constexpr Version giop_1_1{1, 1};
inline constexpr Version giop_1_2{1, 2};

// How wide characters travel in a message of this version.
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
  fragment = 7,  // from 1.1 on; the Assembler lets none through
};

inline constexpr std::size_t header_size = 12;

struct MessageHeader {
  Version version;
  ByteOrder order = native_order;
  bool more_fragments = false;
  MessageType type = MessageType::request;
  std::uint32_t body_size = 0;
};

// Exactly header_size bytes. Refused with COMM_FAILURE: other magic, versions but 1.0 to 1.2, types that the version
// lacks. Sizes are for the caller to judge.
Expected<MessageHeader> parse_header(Bytes bytes) noexcept;

// One whole message, fragments joined: `bytes` is its (first) header and the body behind it.
struct Message {
  MessageHeader header;
  Bytes bytes;
  std::uint32_t refusal = 0;  // not 0: `bytes` is only its beginning; the minor code of the limit that it exceeds

  // Over the body, aligned from the start of the header.
  cdr::Reader body(cdr::Environment* environment = nullptr) const noexcept {
    cdr::Reader reader(bytes.subspan(header_size), header.order, header_size, environment);
    reader.set_wide_form(wide_form_of(header.version));
    return reader;
  }
};

// For bytes that already hold one whole message, such as a recorded one. No fragments.
Expected<Message> parse_message(Bytes bytes) noexcept;

// Starts a message in an emptied writer; finish() writes its size when the body is there.
void begin_message(cdr::Writer& writer, MessageType type, Version version, ByteOrder order = native_order);
// False when the writer has failed, in which case nothing of it may be sent.
bool finish(cdr::Writer& writer) noexcept;

// The messages without a body.
void write_close_connection(cdr::Writer& writer, Version version, ByteOrder order = native_order);
void write_message_error(cdr::Writer& writer, Version version, ByteOrder order = native_order);

}  // namespace corelane::giop
