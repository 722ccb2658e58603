// Reads and writes the headers of requests, replies and locate messages in GIOP 1.0, 1.1 and 1.2. CORBA 3.3 part 2,
// 9.4.2 to 9.4.8. Reading returns views into the message; it copies and allocates nothing. To write, call begin_x(),
// write the body, and call finish() (message.h).
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

// How a request names its target. GIOP 1.2 may use a profile or a whole reference instead of the key. Replies can
// request one of them.
enum class Addressing : std::uint16_t { key = 0, profile = 1, reference = 2 };

// The target of a request. In a received one, object_key is set if an IIOP profile was given, and empty for any other
// kind of profile. `profile` is a view of the profile that was given or selected.
struct Target {
  Addressing addressing = Addressing::key;
  Bytes object_key;
  std::uint32_t profile_tag = 0;
  Bytes profile;                       // content of the profile
  std::uint32_t selected_profile = 0;  // index of the profile in the reference
  const Ior* reference = nullptr;      // for sending: the whole reference; not set when received
};

// The response_flags of GIOP 1.2. Versions 1.0 and 1.1 have only none and with_target.
namespace response {
inline constexpr std::uint8_t none = 0;         // oneway, SyncScope NONE or WITH_TRANSPORT
inline constexpr std::uint8_t with_server = 1;  // SYNC_WITH_SERVER: an empty reply once the server has the request
inline constexpr std::uint8_t with_target = 3;  // a reply after the operation has run
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

// A parsed header, and a reader at the start of the body.
template <typename Header>
struct Parsed {
  explicit Parsed(const Message& message) noexcept : body(message.body()) {}

  Header header;
  cdr::Reader body;
};

// Parse headers. Refused (MARSHAL): a header that is cut short or malformed. The message must have the type that the
// function names.
Expected<Parsed<RequestHeader>> parse_request(const Message& message, const Limits& limits) noexcept;
Expected<Parsed<ReplyHeader>> parse_reply(const Message& message, const Limits& limits) noexcept;
// Does the same with the caller's objects, which saves copying a reader. `body` is that of the message, at its start.
// Returns false if the header is refused; body.error() says why.
bool parse_reply(Version version, const Limits& limits, ReplyHeader& header, cdr::Reader& body) noexcept;
Expected<Parsed<LocateRequestHeader>> parse_locate_request(const Message& message, const Limits& limits) noexcept;
Expected<Parsed<LocateReplyHeader>> parse_locate_reply(const Message& message) noexcept;
// The part of a request's header that says who waits for a reply. It can be read when only the beginning of the request
// has arrived.
struct HalfRequest {
  std::uint32_t id = 0;
  Version version;
  bool response_expected = false;
};
Expected<HalfRequest> parse_beginning(const Message& message, const Limits& limits) noexcept;
// Returns the id of the request that the client has canceled.
Expected<std::uint32_t> parse_cancel_request(const Message& message) noexcept;

// Start a message: empty the writer and write the header, up to the body. They write `contexts` and ignore
// header.contexts. Versions before 1.2 write only target.object_key.
void begin_request(cdr::Writer& writer, const RequestHeader& header, std::span<const ServiceContext> contexts = {},
                   Version version = giop_1_2, ByteOrder order = native_order);
void begin_reply(cdr::Writer& writer, const ReplyHeader& header, std::span<const ServiceContext> contexts = {},
                 Version version = giop_1_2, ByteOrder order = native_order);
void begin_locate_request(cdr::Writer& writer, const LocateRequestHeader& header, Version version = giop_1_2,
                          ByteOrder order = native_order);
void begin_locate_reply(cdr::Writer& writer, const LocateReplyHeader& header, Version version = giop_1_2,
                        ByteOrder order = native_order);
// Writes the whole message, with finish().
void write_cancel_request(cdr::Writer& writer, std::uint32_t request_id, Version version = giop_1_2,
                          ByteOrder order = native_order);

// The body of a reply with a system exception: repository id, minor code, completion. A name that is not standard is
// decoded as UNKNOWN, with its minor code.
void encode_system_exception(cdr::Writer& writer, const Error& error);
Expected<Error> decode_system_exception(cdr::Reader& reader) noexcept;

}  // namespace corelane::giop
