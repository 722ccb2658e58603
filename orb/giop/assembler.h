// Assembler turns the bytes of one connection, split anywhere, into whole messages, and joins fragments. CORBA 3.3 part
// 2, 9.4.1 and 9.4.9.
//
// Threads: the connection's reader only. The time is a parameter.
// Invariants: memory grows with the bytes that have arrived, and not with a size that a header claims; such a size may
// reserve only addresses. A broken stream stays broken. A message that lies whole in the fed bytes is not copied.
//
// A request or reply that exceeds a limit fails only that call and not the connection. Its beginning is delivered, with
// Message::refusal, and the rest is skipped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "orb/base/bytes.h"
#include "orb/base/expected.h"
#include "orb/base/time.h"
#include "orb/giop/limits.h"
#include "orb/giop/message.h"
#include "orb/giop/reassembly_quota.h"
#include "orb/os/memory/byte_buffer.h"

namespace corelane::giop {

// Says which messages this end of the connection may receive. A bidirectional connection is both.
enum class Role : std::uint8_t { client, server, both };

class Assembler {
 public:
  // `quota`: counts half-received messages; null: only the limits of each connection apply.
  explicit Assembler(const Limits& limits = {}, Role role = Role::both,
                     std::unique_ptr<ReassemblyQuota> quota = nullptr)
      : limits_(limits), role_(role), quota_(std::move(quota)) {}

  // Takes bytes from the front of `input` until a message is whole. Call it again until it returns nothing and input is
  // empty. The message is valid until the next call, and at most as long as the fed bytes. Failed (COMM_FAILURE or
  // IMP_LIMIT; the same on every later call): the stream is broken. The connection must send
  // write_message_error(owed_version()), unless the message was itself a MessageError, and then close.
  Expected<std::optional<Message>> next(Bytes& input, Time now);

  // Moves the last message of next() into `to`, without copying it, if the Assembler holds it in a buffer of its own.
  // The message keeps its address. Returns false otherwise. On a client's end, the Assembler keeps the old buffer of
  // `to` for later messages, up to 4 MiB and outside any budget. A client itself controls its number of connections.
  bool hand_over(Bytes message, os::ByteBuffer& to) noexcept;

  // Returns how many bytes complete the current header or body, 1 or more. A blocking read of at most this many bytes
  // does not read into the next message.
  std::size_t wanted() const noexcept;

  // Returns where the next bytes of a long message belong, at most `most` bytes of it. A caller that reads them there
  // and gives them to next() saves a copy. Empty: the current message is not long enough, or has only begun. Valid
  // until the next call of next(), hand_over() or drop().
  MutableBytes room(std::size_t most) noexcept {
    return partial_.size() < header_size ? MutableBytes{} : room_of_partial(most);
  }
  // Returns whether next() may take these bytes: they lie outside of the memory of the current message, or they are its
  // next bytes, where room() is now. A room that is no longer valid may have been used or freed. next() asserts it.
  bool may_take(Bytes input) const noexcept;

  // Returns whether nothing is half received: no message, no fragmented message, and no message that is being skipped.
  bool idle() const noexcept { return partial_.empty() && pending_.empty() && skip_ == 0; }
  // Returns whether a fragmented message is older than limits.fragment_age. next() checks this itself; for silent
  // peers, a timer asks.
  bool expired(Time now) const noexcept;
  std::size_t pending_bytes() const noexcept { return pending_bytes_ + partial_.size(); }
  // Returns the memory of half-received messages, including what the last call delivered. Memory that was not written
  // yet does not count.
  std::size_t held_bytes() const noexcept;
  // After next() failed with half_messages: returns the request that had no room, if it is known.
  const ReassemblyQuota::Request& refused() const noexcept { return refused_; }
  // Ends the connection: discards everything. next() must not be called any more.
  void drop() noexcept;
  // Returns the version of the last valid header; 1.0 before that.
  Version owed_version() const noexcept { return version_; }

 private:
  struct Pending {
    std::uint32_t request_id;  // 0 for 1.1, which has only one
    MessageHeader header;
    os::ByteBuffer bytes;
    std::uint32_t fragments;
    Time since;
    ReassemblyQuota::Request request{};  // which request it is, once enough of it has arrived
    bool is_refused = false;             // skips its further fragments
  };
  using Whole = std::optional<Message>;

  Expected<Whole> fail(ErrorKind kind, std::uint32_t minor) noexcept;
  MutableBytes room_of_partial(std::size_t most) noexcept;
  Expected<Bytes> gather(Bytes& input);
  Expected<void> check(Bytes header) noexcept;
  bool accepts(MessageType type) const noexcept;
  Expected<bool> take(Bytes& input, std::size_t goal);
  bool make_room(os::ByteBuffer& buffer, const MessageHeader& header, std::size_t bytes, std::size_t goal);
  bool hold(std::size_t bytes, const ReassemblyQuota::Request& request = {}) noexcept {
    return !quota_ || quota_->hold(bytes, request);
  }
  ReassemblyQuota::Request half_request(const MessageHeader& header, Bytes bytes) const noexcept;
  void settle() noexcept { (void)hold(held_bytes()); }
  Expected<Whole> deliver(Bytes bytes, Time now);
  Expected<Whole> start_fragmented(Bytes bytes, Time now);
  Expected<Whole> continue_fragmented(Bytes bytes);
  Expected<Whole> complete(std::size_t index);
  Expected<Whole> refuse_fragmented(std::size_t index, std::uint32_t reason);
  Message take_joined(std::size_t index);
  std::size_t goal() const noexcept;
  void drop_cancelled(Bytes bytes) noexcept;
  std::size_t find(Version version, std::uint32_t request_id) const noexcept;

  // Constant after construction.
  Limits limits_;
  Role role_;

  // Owner only.
  MessageHeader header_;       // of the current message, once header_size bytes have arrived
  std::uint32_t refusal_ = 0;  // of the current message, see Message
  std::size_t skip_ = 0;       // bytes still to be skipped of a refused message
  Version version_ = giop_1_0;
  os::ByteBuffer partial_;                  // the current message, if it did not arrive in one piece
  bool is_told_ = false;                    // quota_ was told which request partial_ belongs to
  bool delivered_ = false;                  // the last call delivered partial_
  std::vector<Pending> pending_;            // messages with more fragments to come; at most limits.fragmented_messages
  std::size_t pending_bytes_ = 0;           // bytes in pending_
  std::unique_ptr<ReassemblyQuota> quota_;  // counts held_bytes()
  ReassemblyQuota::Request refused_;
  os::ByteBuffer joined_;  // the reassembled message that the last call delivered
  std::optional<Error> error_;
};

}  // namespace corelane::giop
