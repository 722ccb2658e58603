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
  // Does so, too. A thread that may wait, or is not real-time, waits for room until the deadline. Such threads may fill
  // only their share of the backlog. A real-time thread, such as a task's thread that sends a oneway, does not wait and
  // may use all of it.
  Expected<void> send_by_class(Time deadline, Parts request, bool may_wait, std::uint64_t& position) noexcept;
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
