// What a server without an ORB says to a client, over a Wire.
#pragma once

#include <cstdint>

#include "orb/cdr/writer.h"
#include "orb/giop/headers.h"
#include "orb/giop/ior.h"
#include "tests/support/bare_wire.h"

namespace corelane::testing {

inline std::uint32_t request_id_of(const giop::Message& request) {
  return giop::parse_request(request, {})->header.request_id;
}

// In the request's version; the results follow.
inline void begin_reply_to(const giop::Message& request, cdr::Writer& writer,
                           giop::ReplyStatus status = giop::ReplyStatus::no_exception) {
  giop::begin_reply(writer, {.request_id = request_id_of(request), .status = status, .contexts = {}}, {},
                    request.header.version);
}

inline void forward(Wire& wire, const giop::Message& request, const giop::Ior& to) {
  cdr::Writer writer;
  begin_reply_to(request, writer, giop::ReplyStatus::location_forward);
  giop::encode(writer, to);
  wire.send(writer);
}

// Ends the connection in good order: none of its requests has run.
inline void close_in_order(Wire& wire) {
  cdr::Writer writer;
  giop::write_close_connection(writer, giop::giop_1_2);
  wire.send(writer.bytes());
  wire.close();
}

}  // namespace corelane::testing
