#include "orb/giop/message.h"

#include <array>
#include <cstring>

#include "orb/base/minor.h"

namespace corelane::giop {
namespace {

constexpr char magic[4] = {'G', 'I', 'O', 'P'};
constexpr std::size_t size_at = 8;
constexpr std::uint8_t little_flag = 1;
constexpr std::uint8_t fragments_flag = 2;

Error refused(std::uint32_t code) noexcept { return {ErrorKind::comm_failure, Completion::no, code}; }

bool known(MessageType type, Version version) noexcept {
  return type < MessageType::fragment || (type == MessageType::fragment && version > giop_1_0);
}

}  // namespace

Expected<MessageHeader> parse_any_header(Bytes bytes) noexcept {
  if (bytes.size() < header_size) return refused(minor::truncated);
  if (std::memcmp(bytes.data(), magic, sizeof magic) != 0) return refused(minor::bad_magic);
  const auto octet = [&](std::size_t i) { return std::to_integer<std::uint8_t>(bytes[i]); };
  MessageHeader header;
  header.version = {octet(4), octet(5)};
  if (header.version < giop_1_0 || header.version > giop_1_2) return refused(minor::bad_version);
  header.order = (octet(6) & little_flag) != 0 ? ByteOrder::little : ByteOrder::big;
  header.more_fragments = header.version > giop_1_0 && (octet(6) & fragments_flag) != 0;
  header.type = static_cast<MessageType>(octet(7));
  if (!known(header.type, header.version)) return refused(minor::bad_message_type);
  std::uint32_t size = 0;
  std::memcpy(&size, bytes.data() + size_at, sizeof size);
  asm("" : "+r"(size));  // as in cdr::Reader: another process may write the memory of the bytes
  header.body_size = cdr::from_raw<std::uint32_t>(size, header.order != native_order);
  return header;
}

Expected<Message> parse_message(Bytes bytes) noexcept {
  const Expected<MessageHeader> header = parse_header(bytes);
  if (!header) return header.error();
  if (header->more_fragments || header->type == MessageType::fragment) return refused(minor::bad_fragment);
  if (bytes.size() - header_size != header->body_size) return refused(minor::truncated);
  return Message{*header, bytes};
}

[[gnu::hot]] void begin_message(cdr::Writer& writer, MessageType type, Version version, ByteOrder order) {
  writer.clear(order);
  writer.set_wide_form(wide_form_of(version));
  writer.write_bytes(header_bytes(type, version, order));
}

[[gnu::hot]] bool finish(cdr::Writer& writer) noexcept {
  writer.finish_body();
  writer.forget();
  if (writer.ok()) writer.patch(size_at, static_cast<std::uint32_t>(writer.size() - header_size));
  return writer.ok();
}

void write_close_connection(cdr::Writer& writer, Version version, ByteOrder order) {
  begin_message(writer, MessageType::close_connection, version, order);
  finish(writer);
}

void write_message_error(cdr::Writer& writer, Version version, ByteOrder order) {
  begin_message(writer, MessageType::message_error, version, order);
  finish(writer);
}

}  // namespace corelane::giop
