// MessageMemory says where the bytes lie that a connection reads messages from, and so whether a job may use them after
// they were read. They lie in memory that the peer shares, in a buffer that the reading thread keeps until the request
// has run, or in one that is overwritten at once.
// Thread: the one that reads the connection.
#pragma once

#include <memory>
#include <utility>

#include "orb/base/bytes.h"
#include "orb/transport/connection.h"

namespace corelane::core {

class MessageMemory {
 public:
  // Keeps shared memory that was read, until it is used up or a job keeps it.
  void borrow(transport::BorrowedBytes piece) noexcept { piece_ = std::move(piece); }
  // Frees it.
  void release() noexcept { piece_ = {}; }
  // Returns whether the peer may change the bytes that are read.
  bool is_shared() const noexcept { return piece_.storage != nullptr; }
  // Returns whether `bytes` lie in memory shared with the peer, and not in a buffer.
  bool is_shared(Bytes bytes) const noexcept { return is_shared() && holds(piece_.bytes, bytes); }
  // Returns the source of bytes that are still to come; null: all are there.
  transport::ArrivingBytes* arriving() const noexcept { return piece_.arriving; }
  void note_whole() noexcept { piece_.arriving = nullptr; }
  // For transport::Connection::take().
  transport::BorrowedBytes& piece() noexcept { return piece_; }

  // Sets the bytes that the reading thread keeps until the request has run. None: it keeps no bytes.
  void set_kept(Bytes bytes) noexcept { kept_ = bytes; }
  bool is_kept(Bytes message) const noexcept { return holds(kept_, message); }

  // Returns the message with what keeps its memory alive, for its job. Returns nothing if the job has to copy it. When
  // the piece is used up, only the job keeps it. So the memory has gone back before the peer gets the reply and may
  // send as much again.
  transport::BorrowedBytes share(Bytes message) noexcept {
    auto storage = piece_.storage_of(message);
    if (!storage) return {};
    transport::BorrowedBytes shared{.bytes = message, .storage = std::move(storage), .arriving = piece_.arriving};
    if (message.data() + message.size() == piece_.bytes.data() + piece_.bytes.size()) release();
    return shared;
  }

 private:
  transport::BorrowedBytes piece_;
  Bytes kept_;
};

}  // namespace corelane::core
