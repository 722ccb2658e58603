// Assembler: turns the bytes of one connection, cut anywhere, into whole messages, and joins fragments.
// CORBA 3.3 part 2, 9.4.1 and 9.4.9.
//
// Threads: the connection's reader only. Time comes in as a value.
// Invariants: memory grows with the bytes that have arrived and never with a size that a header claims, which may take
// addresses only; a broken stream stays broken. A message that lies whole in the fed bytes is not copied.
//
// A request or reply that exceeds a limit costs that call and not the connection: its beginning comes out, with
// Message::refusal, and the rest of it is skipped.
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
#include "orb/giop/half_room.h"
#include "orb/giop/limits.h"
#include "orb/giop/message.h"
#include "orb/os/byte_buffer.h"

namespace corelane::giop {

// Which messages this end of the connection may receive. A bidirectional connection is both.
enum class Role : std::uint8_t { client, server, both };

class Assembler {
 public:
  // `room`: for what is half received; null: no bound but those of each connection.
  explicit Assembler(const Limits& limits = {}, Role role = Role::both, std::unique_ptr<HalfRoom> room = nullptr)
      : limits_(limits), role_(role), room_(std::move(room)) {}

  // Takes bytes from the front of `input` until a message is whole; call again until nothing comes and input is empty.
  // The message is valid until the next call, and at most as long as the fed bytes.
  // Failed (COMM_FAILURE or IMP_LIMIT; the same on every later call): the stream is broken, the connection is to send
  // write_message_error(owed_version()) unless the message was itself a MessageError, and then to close.
  Expected<std::optional<Message>> next(Bytes& input, Time now);

  // Whether the message that next() gave last, with those bytes, was put together here: then it is `to`'s without being
  // copied, and stays where it lies. A client's end keeps the place that `to` had for a later one, up to 4 MiB of it
  // and in no budget: how many connections a client has is for itself to say.
  bool hand_over(Bytes message, os::ByteBuffer& to) noexcept;

  // The bytes that complete the header or the body now under way: what a blocking read may ask for at most without
  // reading into the next message. 1 or more.
  std::size_t wanted() const noexcept;

  // Nothing is half received: neither a message nor a fragmented one, nor one that is skipped.
  bool idle() const noexcept { return partial_.empty() && pending_.empty() && skip_ == 0; }
  // A fragmented message is older than limits.fragment_age. next() finds this by itself; a timer asks for silent peers.
  bool expired(Time now) const noexcept;
  std::size_t pending_bytes() const noexcept { return pending_bytes_ + partial_.size(); }
  // What they take; what was handed out by the last call counts, too. Memory that is not written to yet takes nothing.
  std::size_t held_bytes() const noexcept;
  // After next() failed with half_messages: the request that had no room, where it is known.
  const HalfRoom::Request& refused() const noexcept { return refused_; }
  // The connection has ended: nothing is kept, and next() is not called any more.
  void drop() noexcept;
  // Of the last header that made sense; 1.0 before that.
  Version owed_version() const noexcept { return version_; }

 private:
  struct Pending {
    std::uint32_t request_id;  // 0 for 1.1, which has only one
    MessageHeader header;
    os::ByteBuffer bytes;
    std::uint32_t fragments;
    Time since;
    bool is_refused = false;  // its further fragments are skipped
  };
  using Whole = std::optional<Message>;

  Expected<Whole> fail(ErrorKind kind, std::uint32_t minor) noexcept;
  Expected<Bytes> gather(Bytes& input);
  Expected<void> check(Bytes header) noexcept;
  bool accepts(MessageType type) const noexcept;
  Expected<bool> take(Bytes& input, std::size_t goal);
  bool make_room(os::ByteBuffer& buffer, const MessageHeader& header, std::size_t bytes, std::size_t goal);
  bool hold(std::size_t bytes, const HalfRoom::Request& request = {}) noexcept {
    return !room_ || room_->hold(bytes, request);
  }
  HalfRoom::Request half_request(const MessageHeader& header, Bytes bytes) const noexcept;
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
  MessageHeader header_;       // of the message under way, once header_size bytes of it are there
  std::uint32_t refusal_ = 0;  // of that message, see Message
  std::size_t skip_ = 0;       // bytes that follow of a message that was refused
  Version version_ = giop_1_0;
  os::ByteBuffer partial_;          // of the message under way, when it did not come in one piece
  bool is_told_ = false;            // the room knows which request partial_ is
  bool delivered_ = false;          // partial_ is a message handed out by the last call
  std::vector<Pending> pending_;    // messages of which more fragments follow; at most limits.fragmented_messages
  std::size_t pending_bytes_ = 0;   // in pending_
  std::unique_ptr<HalfRoom> room_;  // covers held_bytes()
  HalfRoom::Request refused_;
  os::ByteBuffer joined_;  // the reassembled message handed out by the last call
  std::optional<Error> error_;
};

}  // namespace corelane::giop
