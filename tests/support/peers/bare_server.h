// Functions that answer a client as a server without an ORB does, over a Wire.
#pragma once

#include <cstdint>

#include "orb/cdr/writer.h"
#include "orb/giop/headers.h"
#include "orb/giop/ior.h"
#include "tests/support/peers/bare_wire.h"

namespace corelane::testing {

inline std::uint32_t request_id_of(const giop::Message& request) {
  return giop::parse_request(request, {})->header.request_id;
}

// Begins a reply in the version of the request. The caller appends the results.
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

// Sends CloseConnection, which means that no open request has run, and closes the connection.
inline void close_in_order(Wire& wire) {
  cdr::Writer writer;
  giop::write_close_connection(writer, giop::giop_1_2);
  wire.send(writer.bytes());
  wire.close();
}

}  // namespace corelane::testing
