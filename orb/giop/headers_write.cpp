// Writes the headers of headers.h, and the body of system exceptions.
#include <array>
#include <cstring>

#include "orb/base/minor.h"
#include "orb/cdr/codec.h"
#include "orb/giop/headers.h"
#include "orb/giop/ior.h"

namespace corelane::giop {
namespace {

using cdr::Writer;
constexpr std::uint8_t reserved[3] = {};

void write_target(Writer& writer, const Target& target) {
  writer.write(static_cast<std::uint16_t>(target.addressing));
  switch (target.addressing) {
    case Addressing::key:
      return writer.write_octets(target.object_key);
    case Addressing::profile:
      writer.write(target.profile_tag);
      return writer.write_octets(target.profile);
    case Addressing::reference:
      if (target.reference == nullptr) return writer.fail(ErrorKind::inv_objref, minor::nil_reference);
      writer.write(target.selected_profile);
      return encode(writer, *target.reference);
  }
}

void write_old_request(Writer& writer, const RequestHeader& header, std::span<const ServiceContext> contexts,
                       Version version) {
  write_contexts(writer, contexts);
  writer.write(header.request_id);
  writer.write(header.response_expected());
  if (version == giop_1_1) writer.write_block(reserved, sizeof reserved);
  writer.write_octets(header.target.object_key);
  writer.write_string(header.operation);
  writer.write_octets({});  // the principal, obsolete
}

void write_request(Writer& writer, const RequestHeader& header, std::span<const ServiceContext> contexts) {
  writer.write(header.request_id);
  writer.write(header.response_flags);
  writer.write_block(reserved, sizeof reserved);
  write_target(writer, header.target);
  writer.write_string(header.operation);
  write_contexts(writer, contexts);
  writer.begin_body();
}

// Begins a reply without contexts, as most are, with one block.
void begin_plain_reply(Writer& writer, const ReplyHeader& header, Version version, ByteOrder order) {
  constexpr std::uint32_t no_contexts = 0;
  const bool swap = order != native_order;
  const std::array rest{cdr::to_raw(header.request_id, swap),
                        cdr::to_raw(static_cast<std::uint32_t>(header.status), swap), no_contexts};
  std::array<std::byte, header_size + sizeof rest> whole;
  const auto first = header_bytes(MessageType::reply, version, order);
  std::memcpy(whole.data(), first.data(), first.size());
  std::memcpy(whole.data() + first.size(), rest.data(), sizeof rest);
  static_assert(sizeof whole % 8 == 0, "the body of GIOP 1.2 begins at a multiple of 8");
  writer.clear(order);
  writer.write_bytes(whole);
  writer.begin_body();
}

}  // namespace

void begin_request(Writer& writer, const RequestHeader& header, std::span<const ServiceContext> contexts,
                   Version version, ByteOrder order) {
  begin_message(writer, MessageType::request, version, order);
  if (version < giop_1_2)
    write_old_request(writer, header, contexts, version);
  else
    write_request(writer, header, contexts);
}

[[gnu::hot]] void begin_reply(Writer& writer, const ReplyHeader& header, std::span<const ServiceContext> contexts,
                              Version version, ByteOrder order) {
  if (version >= giop_1_2 && contexts.empty()) return begin_plain_reply(writer, header, version, order);
  begin_message(writer, MessageType::reply, version, order);
  if (version < giop_1_2) write_contexts(writer, contexts);
  writer.write(header.request_id);
  cdr::write_enum(writer, header.status);
  if (version < giop_1_2) return;
  write_contexts(writer, contexts);
  writer.begin_body();
}

void begin_locate_request(Writer& writer, const LocateRequestHeader& header, Version version, ByteOrder order) {
  begin_message(writer, MessageType::locate_request, version, order);
  writer.write(header.request_id);
  if (version < giop_1_2)
    writer.write_octets(header.target.object_key);
  else
    write_target(writer, header.target);
}

void begin_locate_reply(Writer& writer, const LocateReplyHeader& header, Version version, ByteOrder order) {
  begin_message(writer, MessageType::locate_reply, version, order);
  writer.write(header.request_id);
  cdr::write_enum(writer, header.status);
}

void write_cancel_request(Writer& writer, std::uint32_t request_id, Version version, ByteOrder order) {
  begin_message(writer, MessageType::cancel_request, version, order);
  writer.write(request_id);
  finish(writer);
}

void encode_system_exception(Writer& writer, const Error& error) {
  constexpr std::string_view prefix = "IDL:omg.org/CORBA/";
  constexpr std::string_view suffix = ":1.0";
  std::array<char, 64> id;  // the longest name has 24 characters
  std::size_t size = 0;
  for (const std::string_view part : {prefix, name_of(error.kind), suffix}) {
    std::memcpy(id.data() + size, part.data(), part.size());
    size += part.size();
  }
  writer.write_string({id.data(), size});
  writer.write(error.minor);
  cdr::write_enum(writer, error.completed);
}

Expected<Error> decode_system_exception(cdr::Reader& reader) noexcept {
  std::string_view id;
  Error error;
  if (!reader.read_string(id) || !reader.read(error.minor) || !cdr::read_enum(reader, error.completed, 3))
    return Unexpected<Error>(reader.error());
  error.kind = error_kind_of(id);
  return error;
}

}  // namespace corelane::giop
