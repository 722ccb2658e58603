// The headers of requests, replies and locate messages in GIOP 1.0, 1.1 and 1.2. CORBA 3.3 part 2, 9.4.2 to 9.4.8.
// Reading yields views into the message: nothing is copied, nothing allocated. Writing goes
// begin_x(), body, finish() (message.h).
//
// Threads: none. The views of a parsed header live as long as the message's bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "orb/base/bytes.h"
#include "orb/base/expected.h"
#include "orb/giop/contexts.h"
#include "orb/giop/message.h"

namespace corelane::giop {

struct Ior;

// GIOP 1.2 may name its target by a profile or a whole reference instead of the key. Replies ask for one.
enum class Addressing : std::uint16_t { key = 0, profile = 1, reference = 2 };

// What a request is for. Received: object_key is always filled in where an IIOP profile was given, and empty for any
// other kind of profile; profile views the one given or selected.
struct Target {
  Addressing addressing = Addressing::key;
  Bytes object_key;
  std::uint32_t profile_tag = 0;
  Bytes profile;                       // the content of the profile
  std::uint32_t selected_profile = 0;  // its index in the reference
  const Ior* reference = nullptr;      // to send: the whole reference. Not filled in when received
};

// The response_flags of 1.2; 1.0 and 1.1 know only none and with_target.
namespace response {
inline constexpr std::uint8_t none = 0;         // oneway, SyncScope NONE or WITH_TRANSPORT
inline constexpr std::uint8_t with_server = 1;  // SYNC_WITH_SERVER: an empty reply when the server has it
inline constexpr std::uint8_t with_target = 3;  // a reply when the operation has run
}  // namespace response

struct RequestHeader {
  std::uint32_t request_id = 0;
  std::uint8_t response_flags = response::with_target;
  Target target;
  std::string_view operation;
  ContextList contexts;  // received ones

  bool response_expected() const noexcept { return (response_flags & 1) != 0; }
};

enum class ReplyStatus : std::uint32_t {
  no_exception = 0,
  user_exception = 1,
  system_exception = 2,
  location_forward = 3,
  location_forward_perm = 4,  // from 1.2 on
  needs_addressing_mode = 5,  // from 1.2 on; the body is the Addressing as a short
};

struct ReplyHeader {
  std::uint32_t request_id = 0;
  ReplyStatus status = ReplyStatus::no_exception;
  ContextList contexts;  // received ones
};

struct LocateRequestHeader {
  std::uint32_t request_id = 0;
  Target target;
};

enum class LocateStatus : std::uint32_t {
  unknown_object = 0,
  object_here = 1,
  object_forward = 2,
  object_forward_perm = 3,    // from 1.2 on
  system_exception = 4,       // from 1.2 on
  needs_addressing_mode = 5,  // from 1.2 on
};

struct LocateReplyHeader {
  std::uint32_t request_id = 0;
  LocateStatus status = LocateStatus::unknown_object;
};

// A parsed header and a reader that stands at the body.
template <typename Header>
struct Parsed {
  Header header;
  cdr::Reader body;
};

// Each refuses (MARSHAL) a header that is cut short or malformed. The message is of the type that the name says.
Expected<Parsed<RequestHeader>> parse_request(const Message& message, const Limits& limits) noexcept;
Expected<Parsed<ReplyHeader>> parse_reply(const Message& message, const Limits& limits) noexcept;
Expected<Parsed<LocateRequestHeader>> parse_locate_request(const Message& message, const Limits& limits) noexcept;
Expected<Parsed<LocateReplyHeader>> parse_locate_reply(const Message& message) noexcept;
// Of a request of which only the beginning is there, as much of it as says who waits for an answer.
struct HalfRequest {
  std::uint32_t id = 0;
  Version version;
  bool response_expected = false;
};
Expected<HalfRequest> parse_beginning(const Message& message, const Limits& limits) noexcept;
// The id of the request that its client no longer waits for.
Expected<std::uint32_t> parse_cancel_request(const Message& message) noexcept;

// Each empties the writer and leaves it where the body goes. header.contexts is not written; `contexts` is. Versions
// before 1.2 write target.object_key alone.
void begin_request(cdr::Writer& writer, const RequestHeader& header, std::span<const ServiceContext> contexts = {},
                   Version version = giop_1_2, ByteOrder order = native_order);
void begin_reply(cdr::Writer& writer, const ReplyHeader& header, std::span<const ServiceContext> contexts = {},
                 Version version = giop_1_2, ByteOrder order = native_order);
void begin_locate_request(cdr::Writer& writer, const LocateRequestHeader& header, Version version = giop_1_2,
                          ByteOrder order = native_order);
void begin_locate_reply(cdr::Writer& writer, const LocateReplyHeader& header, Version version = giop_1_2,
                        ByteOrder order = native_order);
// Complete as it is; finish() has been called.
void write_cancel_request(cdr::Writer& writer, std::uint32_t request_id, Version version = giop_1_2,
                          ByteOrder order = native_order);

// The body of a reply with a system exception: repository id, minor code, completion. A name that is not standard reads
// as UNKNOWN with the minor code kept.
void encode_system_exception(cdr::Writer& writer, const Error& error);
Expected<Error> decode_system_exception(cdr::Reader& reader) noexcept;

}  // namespace corelane::giop
