// RequestMessage is the message of one request, and the memory in which it lies. That is a buffer of the thread which
// reads the connection, memory shared with the peer, or a buffer of this object. The object and its buffer serve one
// request after the other.
//
// Threads: one at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "orb/base/bytes.h"
#include "orb/cdr/reader.h"
#include "orb/giop/assembler.h"
#include "orb/giop/message.h"
#include "orb/os/memory/byte_buffer.h"
#include "orb/transport/connection.h"

namespace corelane::core {

class RequestMessage {
 public:
  // Sets the message, which stays where it lies. `arguments_at`: the offset of the arguments in the message.
  void begin(const giop::Message& message, std::size_t arguments_at) noexcept {
    header_ = message.header;
    bytes_ = message.bytes;
    arguments_at_ = arguments_at;
  }
  // Begins with the message of `other`: shares its storage, or copies the bytes. Raises std::bad_alloc.
  void begin(const RequestMessage& other) {
    header_ = other.header_;
    arguments_at_ = other.arguments_at_;
    storage_ = other.storage_;
    arriving_ = other.arriving_;
    if (!storage_) buffer_.assign(other.bytes_);
    bytes_ = storage_ ? other.bytes_ : Bytes(buffer_);
  }
  // Keeps the memory shared with the peer in which the message lies, if `shared` has a storage.
  void share(transport::BorrowedBytes shared) noexcept {
    storage_ = std::move(shared.storage);
    arriving_ = shared.arriving;
  }
  // Copies the message into the buffer. Raises std::bad_alloc, and then the message is where it was.
  void copy() {
    buffer_.assign(bytes_);
    bytes_ = buffer_;
  }
  // Does the same, but takes the buffer of the assembler if the message lies there.
  void take_from(giop::Assembler& assembler) {
    if (!assembler.hand_over(bytes_, buffer_)) buffer_.assign(bytes_);
    bytes_ = buffer_;
  }
  // Forgets the message, and frees its memory. A buffer of at most `longest_kept` bytes stays for the next message.
  // Returns whether it freed the buffer.
  [[gnu::always_inline]] bool release(std::size_t longest_kept) noexcept {
    bytes_ = {};
    storage_.reset();
    if (buffer_.capacity() <= longest_kept) return false;
    buffer_.release();
    return true;
  }

  // Valid until the next change.
  Bytes bytes() const noexcept { return bytes_; }
  bool is_shared() const noexcept { return storage_ != nullptr; }
  // Returns the source of bytes that are still to come; null: all are there.
  transport::ArrivingBytes* arriving() const noexcept { return storage_ ? arriving_ : nullptr; }
  // Returns the size of the buffer.
  std::size_t kept_bytes() const noexcept { return buffer_.capacity(); }

  // Returns a reader of the arguments.
  [[gnu::always_inline]] cdr::Reader arguments(cdr::Environment* environment) const noexcept {
    cdr::Reader reader(bytes_.subspan(arguments_at_), header_.order, arguments_at_, environment);
    reader.set_wide_form(giop::wide_form_of(header_.version));
    return reader;
  }
  // Makes the reader of the arguments wait for bytes that are still to come. Call it only if arriving() has a source.
  void expect_rest(cdr::Reader& reader, cdr::Arrival& rest) const {
    const std::size_t there = arriving_->ready();
    if (there < bytes_.size()) reader.expect(rest, there - std::min(there, arguments_at_));
  }

 private:
  giop::MessageHeader header_;
  Bytes bytes_;  // in the reading thread's buffer, in the memory of storage_, or in buffer_
  std::size_t arguments_at_ = 0;
  std::shared_ptr<const void> storage_;           // of a long message in memory shared with the peer
  transport::ArrivingBytes* arriving_ = nullptr;  // valid with storage_
  os::ByteBuffer buffer_;                         // kept between requests
};

}  // namespace corelane::core
