// StreamEviction is an accepted connection as its limiter sees it: it may have to end to make room for another one.
// Threads: as Evictable; note_first_message() any.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <utility>

#include "orb/transport/detail/connection_limiter.h"
#include "orb/transport/detail/link.h"
#include "orb/transport/stream/stream_reading.h"
#include "orb/transport/stream/stream_sender.h"
#include "orb/transport/stream/traffic_times.h"

namespace corelane::transport {

class StreamEviction final : public Evictable {
 public:
  // The first four arguments belong to the connection. `ticket`: nothing if the connection was not accepted.
  StreamEviction(Link& link, const TrafficTimes& times, const StreamSender& sender, StreamReading& reading,
                 std::optional<ConnectionLimiter::Ticket> ticket)
      : link_(link), times_(times), sender_(sender), reading_(reading), ticket_(std::move(ticket)) {}
  // Registers with the limiter. `self`: this object; keeps the connection.
  void begin(const std::shared_ptr<StreamEviction>& self) const {
    if (ticket_) ticket_->belongs_to(self);
  }

  // relaxed: a limiter that sees it a little late still asks whether the connection may end
  void note_first_message() noexcept { has_sent_message_.store(true, std::memory_order_relaxed); }

  Time quiet_since() const noexcept override { return times_.last(); }
  bool has_sent_message() const noexcept override {
    return has_sent_message_.load(std::memory_order_relaxed);  // relaxed: as in note_first_message()
  }
  bool is_channel() const noexcept override { return link_.channel() != nullptr; }
  bool evict() noexcept override {
    const std::shared_ptr<Watcher> watcher = reading_.active_watcher();
    // Bytes that were not read yet mean that the connection is not idle, but only after the first whole message.
    const bool gives_way =
        watcher ? reading_.is_idle() && (!has_sent_message() || !link_.has_bytes()) : reader_gives_way();
    if (!gives_way) return false;
    if (watcher) watcher->on_evict();
    ticket_.reset();
    return true;
  }

 private:
  bool reader_gives_way() const noexcept {
    const std::shared_ptr<Reader> reader = sender_.reader_without_backlog();
    return reader && reader->try_evict();
  }

  Link& link_;
  const TrafficTimes& times_;
  const StreamSender& sender_;
  StreamReading& reading_;
  std::optional<ConnectionLimiter::Ticket> ticket_;
  std::atomic<bool> has_sent_message_{false};
};

}  // namespace corelane::transport
