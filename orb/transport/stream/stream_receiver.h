// StreamReceiver reads a connection for callers that do so on their own threads, one at a time.
// Threads: any, one at a time. Reading while another thread reads is a bug of the caller. It asserts; without
// assertions it is answered without touching the link.
#pragma once

#include <cassert>

#include "orb/transport/connection.h"
#include "orb/transport/detail/link.h"
#include "orb/transport/stream/read_mode.h"
#include "orb/transport/stream/stream_sender.h"

namespace corelane::transport {

class StreamReceiver {
 public:
  static constexpr Error misused{.kind = ErrorKind::bad_inv_order, .minor = minor::connection_lost};

  StreamReceiver(Link& link, ReadMode& mode, StreamSender& sender) noexcept
      : link_(link), mode_(mode), sender_(sender) {}

  // See the functions of Connection with the same names. `borrowed` may be null: all bytes go into the buffer.
  Expected<std::size_t> receive(MutableBytes buffer, Time deadline, os::WaitStrategy strategy,
                                BorrowedBytes* borrowed) noexcept {
    return read([&] { return link_.receive_until(buffer, deadline, strategy, borrowed); });
  }
  Expected<std::size_t> poll_receive(MutableBytes buffer, BorrowedBytes* borrowed) noexcept {
    return read([&] { return link_.poll_receive(buffer, borrowed); });
  }
  Expected<Arrival> take(MutableBytes buffer, BorrowedBytes* borrowed) noexcept {
    Arrival arrival;
    const auto count = read([&] { return link_.take(buffer, arrival.at, borrowed); });
    if (!count) return count.error();
    arrival.count = *count;
    return arrival;
  }
  bool await_bytes() noexcept {
    if (!begin()) return true;
    const bool none = link_.await_bytes();
    mode_.end();
    return none;
  }
  void arm_descriptor() noexcept {
    if (!begin()) return;
    if (!link_.await_bytes()) link_.make_readable();
    mode_.end();
  }

 private:
  bool begin() noexcept {
    const bool mine = mode_.begin_receiving();
    assert(mine && "receive() while watched, or two at once");
    return mine;
  }
  template <typename Read>
  Expected<std::size_t> read(Read read_link) noexcept {
    if (!begin()) return misused;
    const IoResult result = read_link();
    mode_.end();
    if (!sender_.is_open() || result.outcome != Io::done) return why_not_received(result.outcome);
    return result.count;
  }
  Error why_not_received(Io outcome) noexcept;

  Link& link_;
  ReadMode& mode_;
  StreamSender& sender_;
};

}  // namespace corelane::transport
