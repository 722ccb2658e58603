// Link: what moves the bytes of a StreamConnection: a socket, or a channel through shared memory.
//
// Threads: receive_*(), take(), await_bytes() and stop_awaiting() are called by whoever reads, one at a time;
// send_some() and await_room() under the connection's lock; shut() and what is constant by any. Nothing blocks but
// receive_until().
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "orb/base/bytes.h"
#include "orb/base/minor.h"
#include "orb/base/time.h"
#include "orb/os/wait.h"
#include "orb/transport/connection.h"
#include "orb/transport/endpoint.h"

namespace corelane::channel {
class Channel;
}

namespace corelane::transport {

// What one attempt to move bytes came to.
enum class Io : std::uint8_t { done, would_block, failed };
struct IoResult {
  Io outcome = Io::done;
  std::size_t count = 0;  // bytes moved; a read of 0 is the peer's orderly end
};

class Link {
 public:
  virtual ~Link() = default;

  // `lent`: see Connection::receive(); null: into the buffer in any case.
  virtual IoResult receive_some(MutableBytes buffer, Lent* lent) noexcept = 0;
  // Waits for bytes (done), the deadline (would_block) or a failure. With a deadline in the past as take().
  virtual IoResult receive_until(MutableBytes buffer, Time deadline, os::WaitStrategy strategy,
                                 Lent* lent) noexcept = 0;
  // See Connection::glance().
  virtual IoResult glance(MutableBytes buffer, Lent* lent) noexcept { return receive_until(buffer, Time{}, {}, lent); }
  // As receive_some(), and when the last of the bytes came. Whatever it gave, descriptor() is readable from here on as
  // soon as there is something (more).
  virtual IoResult take(MutableBytes buffer, Time& arrived, Lent* lent) noexcept = 0;
  // done: all of the parts; would_block: `count` bytes, the rest does not fit now.
  virtual IoResult send_some(std::span<const Bytes> parts) noexcept = 0;
  // See Connection::berth(): memory that was not sent goes back by its number. Under the connection's lock.
  struct Berthed {
    MutableBytes bytes{};
    std::uint64_t number = 0;
  };
  virtual Berthed lend(std::size_t /*bytes*/) { return {}; }
  virtual void give_back(std::uint64_t /*number*/) noexcept {}
  // See Connection::may_have_been_read(). The first under the connection's lock.
  virtual std::uint64_t position() const noexcept { return 0; }
  virtual bool may_have_been_read(std::uint64_t /*position*/) const noexcept { return true; }
  // Why it failed, after Io::failed: COMM_FAILURE. Thread: any.
  virtual Error failure() const noexcept { return {.kind = ErrorKind::comm_failure, .minor = minor::connection_lost}; }
  virtual Connection::Loans loans() const noexcept { return {}; }
  // Ends both directions; what was sent still arrives. Whoever waits returns.
  virtual void shut() noexcept = 0;
  // Tells the peer that nothing more will be sent; reading goes on. Under the connection's lock.
  virtual void finish_sending() noexcept {}
  // Whether all that was sent has reached the peer's system, so that shut() can lose none of it. Thread: any.
  virtual bool has_arrived() const noexcept { return true; }

  // Readable once there is something to read, or the link has ended; between await_bytes() and stop_awaiting(), which
  // reading otherwise does by itself. Constant.
  virtual int descriptor() const noexcept = 0;
  // The same in two, for who can watch two: the second tells of the end, and when it does nudge() makes the first
  // readable. -1: the first tells of both. Constant.
  virtual int bytes_descriptor() const noexcept { return descriptor(); }
  // Tells of the peer's end by EPOLLRDHUP, also while nobody reads. Constant.
  virtual int hang_up_descriptor() const noexcept { return descriptor(); }
  virtual int end_descriptor() const noexcept { return -1; }
  // Whether something came that nobody has read; the end is nothing. Thread: the reader's.
  virtual bool has_unread() noexcept = 0;
  // Whether a read that found less than it had room for has found all, so that an edge of bytes_descriptor() tells of
  // whatever comes then. Constant.
  virtual bool tells_of_more() const noexcept { return false; }
  // False: there is something already, and no descriptor tells of it.
  virtual bool await_bytes() noexcept { return true; }
  virtual void stop_awaiting() noexcept {}
  virtual void nudge() noexcept {}
  // How to learn that there is room for more: descriptor() is writable; room_descriptor() is readable, after
  // await_room(); by trying again. Constant.
  enum class Room : std::uint8_t { writable, readable, untold };
  virtual Room room() const noexcept { return Room::writable; }
  virtual int room_descriptor() const noexcept { return -1; }
  virtual void await_room(std::size_t) noexcept {}

  virtual Endpoint local() const = 0;
  virtual Endpoint peer() const = 0;
  // The channel that it goes through, for its memory; null: a socket has none of its own. Constant.
  virtual channel::Channel* channel() noexcept { return nullptr; }
  virtual std::optional<PeerCredentials> credentials() const noexcept { return std::nullopt; }
  virtual std::vector<gid_t> groups() const { return {}; }
};

}  // namespace corelane::transport
