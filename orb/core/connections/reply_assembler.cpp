#include "orb/core/connections/reply_assembler.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string_view>

#include "orb/giop/headers.h"

namespace corelane::core {

ReplyAssembler::ReplyAssembler(const giop::Limits& limits)
    : limits_(limits),
      assembler_(limits, giop::Role::client),
      buffer_(std::make_unique_for_overwrite<std::byte[]>(buffer_size)) {}

[[gnu::hot]] std::optional<std::uint32_t> ReplyAssembler::request_id_of(const giop::Message& message) const noexcept {
  if (message.header.version == giop::giop_1_2) {  // the id comes first; the call's thread parses the rest
    std::uint32_t id = 0;
    if (message.bytes.size() < giop::header_size + sizeof id) return std::nullopt;
    std::memcpy(&id, &message.bytes[giop::header_size], sizeof id);
    asm("" : "+r"(id));  // as in cdr::Reader: another process may write the memory of the bytes
    return cdr::from_raw<std::uint32_t>(id, message.header.order != native_order);
  }
  if (message.header.type == giop::MessageType::reply) {
    const auto reply = giop::parse_reply(message, limits_);
    return reply ? std::optional(reply->header.request_id) : std::nullopt;
  }
  const auto reply = giop::parse_locate_reply(message);
  return reply ? std::optional(reply->header.request_id) : std::nullopt;
}

// Returns whether the bytes are exactly one message, not fragmented.
bool ReplyAssembler::is_one_message(Bytes bytes) noexcept {
  constexpr std::size_t flags_at = 6, size_at = 8;
  constexpr auto little = std::byte{1}, more_fragments = std::byte{2};
  if (bytes.size() < giop::header_size || (bytes[flags_at] & more_fragments) != std::byte{0}) return false;
  std::uint32_t size = 0;
  std::memcpy(&size, &bytes[size_at], sizeof size);
  const bool is_native = ((bytes[flags_at] & little) != std::byte{0}) == (native_order == ByteOrder::little);
  return (is_native ? size : __builtin_bswap32(size)) == bytes.size() - giop::header_size;
}

// Returns the reply of which the borrowed bytes are the beginning. Its header is there. Returns nothing if they are
// anything else. A correct peer sends nothing else in this way.
std::optional<giop::Message> ReplyAssembler::begun_reply(const transport::BorrowedBytes& borrowed) const noexcept {
  const std::size_t there = borrowed.arriving->ready();
  if (there < giop::header_size || !assembler_.idle() || !is_one_message(borrowed.bytes)) return std::nullopt;
  const auto header = giop::parse_header(borrowed.bytes.first(giop::header_size));
  if (!header || header->type != giop::MessageType::reply) return std::nullopt;
  giop::Message message{*header, borrowed.bytes};
  const auto reply = giop::parse_reply(message, limits_);
  if (!reply || reply->body.offset() > there) return std::nullopt;
  if (message.bytes.size() > limits_.message_size) message.refusal = minor::message_too_large;
  return message;
}

// Checks the stream's first bytes, even before a whole header is there, because any program may listen at the port.
// Keeps the first bytes of a peer that does not speak GIOP.
bool ReplyAssembler::is_giop(Bytes bytes) {
  constexpr std::string_view magic = "GIOP";
  static_assert(magic.size() == magic_size);
  constexpr std::size_t most_foreign = 48;
  for (const std::byte byte : bytes.first(std::min(bytes.size(), magic.size() - checked_))) {
    if (byte == static_cast<std::byte>(magic[checked_++])) continue;
    const Bytes first = bytes.first(std::min(bytes.size(), most_foreign));
    foreign_.assign(first.begin(), first.end());
    return false;
  }
  return true;
}

std::string ReplyAssembler::foreign_words() const {
  std::string text;
  for (const std::byte byte : foreign_) {
    const char c = static_cast<char>(byte);
    text += c >= ' ' && c <= '~' ? c : '.';
  }
  return text;
}

[[gnu::hot]] void ReplyAssembler::store(CallState& call, const giop::Message& message,
                                        const transport::BorrowedBytes& borrowed) {
  call.lies_at = message.bytes;
  const Bytes bytes = message.bytes;
  if (borrowed.storage && (call.storage = borrowed.storage_of(bytes))) {
    call.arriving = borrowed.arriving;
    return;
  }
  if (bytes.size() >= exchanged_from && exchange_buffer(call, bytes)) return;
  // A reply that came alone and whole is not in the assembler.
  if (has_one_message_ || !assembler_.hand_over(bytes, call.bytes)) call.bytes.assign(bytes);
  call.lies_at = call.bytes;
}

// Gives the call the buffer that holds a long reply which came alone, so that it is not copied. Returns false for other
// long replies.
bool ReplyAssembler::exchange_buffer(CallState& call, Bytes message) noexcept {
  if (!has_one_message_ || message.data() != buffer_.get()) return false;
  if (!call.buffer) call.buffer.reset(new (std::nothrow) std::byte[buffer_size]);
  if (!call.buffer) return false;
  buffer_.swap(call.buffer);
  return true;
}

}  // namespace corelane::core
