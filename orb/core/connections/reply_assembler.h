// ReplyAssembler makes messages of the bytes that come over a client's connection, and stores replies for their calls.
// Thread: the leader's. foreign_words() after a call has failed, any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "orb/base/bytes.h"
#include "orb/base/expected.h"
#include "orb/base/minor.h"
#include "orb/core/connections/pending_reply.h"
#include "orb/giop/assembler.h"
#include "orb/os/clock.h"
#include "orb/transport/connection.h"

namespace corelane::core {

class ReplyAssembler {
 public:
  explicit ReplyAssembler(const giop::Limits& limits);

  // Returns memory for the next read. While a long reply is incomplete, this is the end of that reply's buffer. Every
  // call before take() returns the same memory.
  MutableBytes buffer() noexcept {
    const MutableBytes room = assembler_.room(buffer_size);
    return room.empty() ? MutableBytes{buffer_.get(), buffer_size} : room;
  }
  // Takes what was read, and calls deliver() with each complete message. `is_open`: no call has failed yet. Failed:
  // the peer does not speak GIOP, or not correctly; the connection must end. std::bad_alloc.
  template <typename Deliver>
  Expected<void> take(Bytes bytes, bool is_open, Deliver deliver) {
    if (checked_ < magic_size && !is_giop(bytes)) return refuse(minor::bad_magic);
    if (is_open && assembler_.idle() && is_one_message(bytes) && take_whole_reply(bytes, deliver)) return {};
    const Time now = os::now();
    // Bound: each round consumes bytes.
    while (!bytes.empty()) {
      const auto message = assembler_.next(bytes, now);
      if (!message) return refuse(message.error().minor);
      if (!*message) return {};
      deliver(**message);
    }
    return {};
  }
  // Takes a reply that the peer still writes, and calls deliver() with it. COMM_FAILURE channel_spoiled: the bytes are
  // not the beginning of exactly one reply, so the connection must end.
  template <typename Deliver>
  Expected<void> take_arriving(const transport::BorrowedBytes& borrowed, Deliver deliver) {
    const auto reply = begun_reply(borrowed);
    if (!reply) return refuse(minor::channel_spoiled);
    checked_ = magic_size;
    deliver(*reply);
    return {};
  }
  // Returns the id of the request that the message answers. Nothing: it cannot be read.
  std::optional<std::uint32_t> request_id_of(const giop::Message& message) const noexcept;
  // Stores the reply for its call, and copies it only if necessary. std::bad_alloc.
  void store(CallState& call, const giop::Message& message, const transport::BorrowedBytes& borrowed);
  // Returns the first bytes of a peer that does not speak GIOP, as readable text. Empty if the peer speaks GIOP or has
  // sent nothing.
  std::string foreign_words() const;

 private:
  static constexpr std::size_t buffer_size = 68 * 1024;    // holds 64 KiB of results and their header
  static constexpr std::size_t exchanged_from = 8 * 1024;  // from this size on, a call gets the buffer, not a copy
  static constexpr std::uint8_t magic_size = 4;

  static Error refuse(std::uint32_t why) noexcept { return {ErrorKind::comm_failure, Completion::maybe, why}; }
  static bool is_one_message(Bytes bytes) noexcept;
  std::optional<giop::Message> begun_reply(const transport::BorrowedBytes& borrowed) const noexcept;
  bool is_giop(Bytes bytes);
  bool exchange_buffer(CallState& call, Bytes message) noexcept;
  // Handles the common case, a reply that came alone and whole, without the assembler. Returns false for anything else.
  template <typename Deliver>
  bool take_whole_reply(Bytes bytes, Deliver& deliver) {
    const auto header = giop::parse_header(bytes.first(giop::header_size));
    if (!header || header->type != giop::MessageType::reply || bytes.size() > limits_.message_size) return false;
    has_one_message_ = true;
    deliver(giop::Message{*header, bytes});
    has_one_message_ = false;
    return true;
  }

  const giop::Limits limits_;
  giop::Assembler assembler_;
  std::unique_ptr<std::byte[]> buffer_;
  bool has_one_message_ = false;  // the last read was exactly one message
  std::uint8_t checked_ = 0;      // how many of the stream's first four bytes are checked
  // What the peer sent instead of GIOP. Written before the calls fail, and read after that.
  std::vector<std::byte> foreign_;
};

}  // namespace corelane::core
