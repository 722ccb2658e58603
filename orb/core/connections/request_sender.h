// RequestSender sends the requests of a client's connection, each after the oneways that the same thread has in the
// batch.
// Threads: any.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "orb/base/bytes.h"
#include "orb/base/expected.h"
#include "orb/base/time.h"
#include "orb/core/connections/oneway_batch.h"
#include "orb/transport/connection.h"

namespace corelane::core {

class RequestSender {
 public:
  // The parts of one request. They may be freed after the request was sent.
  using Parts = std::span<const Bytes>;

  explicit RequestSender(const std::shared_ptr<transport::Connection>& stream);
  // Sends what waits in the batch if there is room now, and takes nothing more.
  void end_batch() noexcept {
    if (batch_) batch_->end(Time{});
  }

  // Sends the request; waits for room until the deadline. Sets `position` to where it begins in the stream.
  Expected<void> send(Time deadline, Parts request, std::uint64_t& position) noexcept {
    if (batch_)
      if (const auto sent = batch_->flush(deadline); !sent) return sent;
    return stream_.send_by(deadline, request, position);
  }
  // Does the same, but fails with no_send_room at once if there is no room. See Connection::send_if_room().
  Expected<void> send_if_room(Time rest_until, Parts request, std::uint64_t& position) noexcept {
    if (batch_)
      if (const auto sent = batch_->flush(Time{}); !sent) return sent;
    return stream_.send_if_room(rest_until, request, position);
  }
  // Sends the request without waiting. It may use all of the backlog; the two functions above fill only their share.
  Expected<void> send_at_once(Parts request, std::uint64_t& position) noexcept {
    return stream_.send(request, position);
  }
  // Puts a oneway into the batch. Returns false if it has to be sent.
  Expected<bool> batch(Parts request, Time deadline) noexcept {
    return batch_ ? batch_->take(request, deadline) : Expected<bool>(false);
  }
  // Tells the server that nobody waits for the reply any more.
  void cancel(std::uint32_t request_id) noexcept;
  // Closes the stream when the waiting oneways have been sent, or at `deadline`.
  void close_when_sent(Time deadline) noexcept;

 private:
  transport::Connection& stream_;
  const std::shared_ptr<OnewayBatch> batch_;  // null if a single send costs little
};

}  // namespace corelane::core
