// Link moves the bytes of a StreamConnection. It is a socket, or a channel through shared memory.
//
// Threads: the reader, one thread at a time, calls receive_*(), take(), await_bytes() and stop_awaiting(). send_some()
// and await_room() are called under the connection's lock. shut() and constant values: any thread. Only receive_until()
// and wait_writable() block.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "orb/base/bytes.h"
#include "orb/base/minor.h"
#include "orb/base/time.h"
#include "orb/os/wait/wait.h"
#include "orb/transport/connection.h"
#include "orb/transport/endpoint.h"

namespace corelane::channel {
class Channel;
}

namespace corelane::transport {

// The result of one attempt to move bytes.
enum class Io : std::uint8_t {
  done,
  would_block,
  failed,
  begun,  // of send_some(): finish with write_rest() and end_rest()
};
struct IoResult {
  Io outcome = Io::done;
  std::size_t count = 0;  // bytes moved; a read of 0 means the peer's orderly end
};

class Link {
 public:
  virtual ~Link() = default;

  // `borrowed`: see Connection::receive(); null: the bytes go into the buffer in any case.
  virtual IoResult receive_some(MutableBytes buffer, BorrowedBytes* borrowed) noexcept = 0;
  // Waits for bytes (done), the deadline (would_block) or a failure. With a deadline in the past it behaves like
  // take().
  virtual IoResult receive_until(MutableBytes buffer, Time deadline, os::WaitStrategy strategy,
                                 BorrowedBytes* borrowed) noexcept = 0;
  // See Connection::poll_receive().
  virtual IoResult poll_receive(MutableBytes buffer, BorrowedBytes* borrowed) noexcept {
    return receive_until(buffer, Time{}, {}, borrowed);
  }
  // Reads like receive_some(), and tells when the last of the bytes came. Whatever it returned, from now on
  // descriptor() is readable as soon as there is something (more).
  virtual IoResult take(MutableBytes buffer, Time& arrived, BorrowedBytes* borrowed) noexcept = 0;
  // See Connection::take_arriving().
  virtual void take_arriving(bool /*takes*/) noexcept {}
  // Sends parts. done: all of them were sent; would_block: `count` bytes were, and the rest does not fit now. begun, of
  // two parts: the peer has the message, but the rest of the second part must still be copied.
  virtual IoResult send_some(std::span<const Bytes> parts) noexcept = 0;
  // Copies that rest. Call it without the connection's lock, on the thread that has begun. Then call end_rest() with
  // it.
  virtual void write_rest() noexcept {}
  virtual void end_rest() noexcept {}
  // See Connection::sends_arriving(). Under the connection's lock.
  virtual bool sends_arriving(std::size_t /*bytes*/) const noexcept { return false; }
  // See Connection::send_buffer(). Memory that was not sent is given back by its number. Under the connection's lock.
  struct LentBytes {
    MutableBytes bytes{};
    std::uint64_t number = 0;
  };
  virtual LentBytes lend(std::size_t /*bytes*/) { return {}; }
  virtual void give_back(std::uint64_t /*number*/) noexcept {}
  // See Connection::may_have_been_read(). Call position() under the connection's lock.
  virtual std::uint64_t position() const noexcept { return 0; }
  virtual bool may_have_been_read(std::uint64_t /*position*/) const noexcept { return true; }
  // Returns why the link failed, after Io::failed: COMM_FAILURE. Thread: any.
  virtual Error failure() const noexcept { return {.kind = ErrorKind::comm_failure, .minor = minor::connection_lost}; }
  virtual Connection::Loans loans() const noexcept { return {}; }
  // Ends both directions; what was sent still arrives. A thread that waits returns.
  virtual void shut() noexcept = 0;
  // Tells the peer that nothing more will be sent; reading continues. Under the connection's lock.
  virtual void finish_sending() noexcept {}
  // Returns whether all that was sent has reached the peer's system, so that shut() can lose none of it. Thread: any.
  virtual bool has_arrived() const noexcept { return true; }

  // Returns a descriptor that is readable when there is something to read, or the link has ended. That holds between
  // await_bytes() and stop_awaiting(); otherwise the functions that read call these two themselves. Constant.
  virtual int descriptor() const noexcept = 0;
  // The same as two descriptors, for a caller that can watch two. end_descriptor() reports the end; then
  // make_readable() makes bytes_descriptor() readable. end_descriptor() of -1: the first reports both. Constant.
  virtual int bytes_descriptor() const noexcept { return descriptor(); }
  // Returns a descriptor that reports the peer's end by EPOLLRDHUP, also while no thread reads. Constant.
  virtual int hang_up_descriptor() const noexcept { return descriptor(); }
  virtual int end_descriptor() const noexcept { return -1; }
  // Returns whether something has come that was not read yet. The end does not count. Thread: the reader's.
  virtual bool has_unread() noexcept = 0;
  // Returns whether a read that found less than it had room for has found all. Then an edge of bytes_descriptor()
  // reports whatever comes next. Constant.
  virtual bool tells_of_more() const noexcept { return false; }
  // Returns false if there is something already, and no descriptor reports it.
  virtual bool await_bytes() noexcept { return true; }
  virtual void stop_awaiting() noexcept {}
  virtual void make_readable() noexcept {}
  // How to learn that there is room for more. `writable`: descriptor() is writable. `readable`: room_descriptor() is
  // readable, after await_room(). `unknown`: only by trying again. Constant.
  enum class WriteReadiness : std::uint8_t { writable, readable, unknown };
  virtual WriteReadiness write_readiness() const noexcept { return WriteReadiness::writable; }
  virtual int room_descriptor() const noexcept { return -1; }
  virtual void await_room(std::size_t) noexcept {}

  virtual Endpoint local() const = 0;
  virtual Endpoint peer() const = 0;
  // Returns the channel that it goes through, for its memory. Null: it is a socket, which has none of its own.
  // Constant.
  virtual channel::Channel* channel() noexcept { return nullptr; }
  virtual std::optional<PeerCredentials> credentials() const noexcept { return std::nullopt; }
  virtual std::vector<gid_t> groups() const { return {}; }

  // Waits until the socket of bytes_descriptor() takes more, or the link has ended. Returns false if `until` has come.
  // Thread: any, without the connection's lock.
  bool wait_writable(Time until) const noexcept;

  // See Connection::peer_end() of an open connection, and Connection::has_bytes(). Thread: any.
  Connection::PeerEnd peer_end() const noexcept;
  bool has_bytes() const noexcept;
};

}  // namespace corelane::transport
