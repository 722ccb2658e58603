// SendMemory is the memory into which a cdr::Writer puts a long message. It is memory of the connection, so that the
// message is written where it is sent from. Otherwise it is pages of its own (os::ByteBuffer says why).
// Threads: one at a time.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include "orb/cdr/writer.h"
#include "orb/os/memory/byte_buffer.h"
#include "orb/transport/connection.h"

namespace corelane::transport {

class SendMemory final : public cdr::MessageMemory {
 public:
  enum class Otherwise { heap, pages };

  SendMemory() = default;
  SendMemory(const SendMemory&) = delete;
  SendMemory& operator=(const SendMemory&) = delete;
  ~SendMemory() { release(); }

  // Sets the connection, which outlives the marshalling. Memory that it has lent keeps it alive for longer.
  // `otherwise`: where a message goes if the connection has no memory for it.
  void use(Connection& connection, Otherwise otherwise = Otherwise::heap) noexcept {
    connection_ = &connection;
    otherwise_ = otherwise;
  }
  // Gives back what was not sent.
  void release() noexcept {
    connection_ = nullptr;
    before_.release();
    now_.release();
  }

  bool refers(std::size_t bytes) noexcept override {
    return connection_ != nullptr && connection_->sends_arriving(bytes);
  }
  MutableBytes lend(std::size_t bytes) noexcept override {
    Piece next;
    if (connection_ != nullptr) next.send_buffer = connection_->send_buffer(bytes);
    if (connection_ != nullptr && !next.send_buffer && otherwise_ == Otherwise::pages)
      next.pages = os::take_pages(std::max(bytes, 2 * now_.pages.size()));
    if (next.bytes().empty()) return {};
    before_.release();
    before_ = std::exchange(now_, std::move(next));  // the message is still there
    return now_.bytes();
  }

 private:
  struct Piece {
    MutableBytes bytes() const noexcept { return send_buffer ? send_buffer->bytes() : pages; }
    void release() noexcept {
      send_buffer.reset();
      if (!pages.empty()) os::give_pages(std::exchange(pages, {}));
    }
    std::unique_ptr<ReservedSendBuffer> send_buffer{};
    MutableBytes pages{};
  };

  Connection* connection_ = nullptr;
  Otherwise otherwise_ = Otherwise::heap;
  Piece before_, now_;
};

}  // namespace corelane::transport
