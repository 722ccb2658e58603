// Connection is an ordered stream of bytes in both directions between two processes. A Watcher gets the bytes that the
// reactor reads from it. tests/support/byte_transport_suite.h checks what every kind of connection must do.
//
// At any time a connection is in one of two modes, never both. Watched: the reactor reads it and calls the Watcher.
// Received from: one caller at a time reads it, on its own thread. These are bugs of the caller: watch() while another
// thread is in receive(), receive() while watched, and two receive() at once. They assert; without assertions,
// receive() answers BAD_INV_ORDER. After unwatch() the connection is free for receive() again, and no byte is lost in
// between.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "orb/base/bytes.h"
#include "orb/base/expected.h"
#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/os/wait/wait.h"
#include "orb/transport/endpoint.h"

namespace corelane::transport {

// ArrivingBytes tells how much of a message is there that the peer still writes. Thread: any.
class ArrivingBytes {
 public:
  // Returns how many of the bytes are there.
  virtual std::size_t ready() const noexcept = 0;
  // Waits until at least the first `size` bytes are there, and returns how many are. With a deadline in the past it
  // only spins for some microseconds. TIMEOUT deadline_passed. COMM_FAILURE connection_lost: they will not come.
  virtual Expected<std::size_t> await(std::size_t size, Time deadline) noexcept = 0;

 protected:
  ~ArrivingBytes() = default;
};

// BorrowedBytes is bytes that the peer wrote into memory that both processes map. They stay there as long as `storage`
// lives.
struct BorrowedBytes {
  Bytes bytes{};
  std::shared_ptr<const void> storage{};  // null: there are none
  // Not null: only its ready() bytes are there; see Connection::take_arriving(). It lives as long as `storage`.
  ArrivingBytes* arriving = nullptr;

  // Returns the storage if `part` is a long part of the bytes. Returns null if it lies elsewhere, or is better copied.
  std::shared_ptr<const void> storage_of(Bytes part) const noexcept {
    return part.size() >= worth_keeping && holds(bytes, part) ? storage : nullptr;
  }
  static constexpr std::size_t worth_keeping = 32 * 1024;
};

// Returns the error of a connection that has ended: COMM_FAILURE with a minor code that Watcher::on_closed() names.
constexpr Error ended_by(std::uint32_t minor) noexcept { return {.kind = ErrorKind::comm_failure, .minor = minor}; }

// Watcher receives what the reactor reads from a connection. Thread: the reactor's, one call at a time. A callback does
// not block; it may call any function of the connection.
class Watcher {
 public:
  virtual ~Watcher() = default;

  // Takes bytes as they come, which need not match messages. They are valid during the call. `received`: when they were
  // read.
  virtual void on_bytes(Bytes bytes, Time received) noexcept = 0;

  // Takes bytes in memory that both processes map, without a copy; see Connection::receive(). A watcher that does not
  // keep `borrowed.storage` may use the bytes only during the call.
  virtual void on_borrowed(BorrowedBytes borrowed, Time received) noexcept { on_bytes(borrowed.bytes, received); }

  // Returns how many bytes are missing of the current message. 0: none is incomplete, or the watcher knows no messages.
  virtual std::size_t rest_of_message() const noexcept { return 0; }

  // Called when there is something to read, but the reactor has used up its budget for requests that no contract
  // foresees. Returns true if the watcher has called unwatch() and another thread will read the connection. False:
  // reading waits.
  virtual bool read_elsewhere() noexcept { return false; }

  // Called when reading is paused and the peer has ended both directions: it accepts no replies any more. What it sent
  // before can still be read. May be called again.
  virtual void on_peer_gone() noexcept {}

  // Returns whether nothing is in progress for the peer, so that the connection may end to make room for another.
  virtual bool is_idle() noexcept { return false; }
  // Returns whether the peer waits for a reply that is being made. Then the connection is in use, however quiet it is.
  virtual bool owes_answer() noexcept { return false; }
  // Called after is_idle() if another connection needs the place. Sends the closing message of the protocol above, if
  // there is one, and closes.
  virtual void on_evict() noexcept {}

  // The last call: exactly once for each watch(), unless unwatch() came first. Thread: the reactor's; if the reactor
  // has stopped already, the caller's of watch(). Reasons:
  // - COMM_FAILURE with minor peer_closed (the peer's orderly end), connection_lost, closed_here (close() on this
  //   side), idle_timeout, deadline_passed (expect_by) or shutting_down (the reactor stopped)
  // - TRANSIENT send_backlog, send_backlogs or send_stalled
  // - NO_MEMORY out_of_memory
  virtual void on_closed(Error reason) noexcept = 0;
};

// ConnectionMonitor is told of events of a connection that no Watcher reads. Thread: the reactor's, one call at a time;
// a call does not block.
class ConnectionMonitor {
 public:
  virtual ~ConnectionMonitor() = default;

  // The peer has ended the connection or is gone. Bytes that it sent before may still be unread.
  virtual void on_peer_end() noexcept = 0;
  // Nothing was sent for ConnectionLimits::idle_timeout. Called again after each further such time.
  virtual void on_idle() noexcept = 0;
};

// The process at the other end of a Unix socket, as the kernel reports it: the one that called connect() or listen().
struct PeerCredentials {
  std::int32_t process = 0;  // its number in the pid namespace of this process
  std::uint32_t user = 0;
};

// The result of one read.
struct Arrival {
  std::size_t count = 0;  // bytes; 0: the peer ended the stream in good order
  Time at{};              // when the last of them came
};

// ReservedSendBuffer is memory of a connection for one long message. If send() is given only bytes that begin there, it
// does not copy them. The destructor gives the memory back unless it was sent. A ReservedSendBuffer keeps its
// connection. Thread: any.
class ReservedSendBuffer {
 public:
  virtual ~ReservedSendBuffer() = default;
  virtual MutableBytes bytes() const noexcept = 0;
};

// Reader is the party that reads a connection with receive(), as far as the listener has to know it.
class Reader {
 public:
  virtual ~Reader() = default;
  // Called when another connection needs the place of this one. Sends a closing message and closes the connection,
  // unless something is in progress. Returns whether the connection has ended. Thread: the reactor's.
  virtual bool try_evict() noexcept = 0;
  // Called after Connection::await_drained() returned false: the backlog is empty, or the connection has closed.
  // Thread: any.
  virtual void on_drained() noexcept = 0;
};

class MemoryAccount;

class Connection {
 public:
  virtual ~Connection() = default;

  // Waits until some bytes are there, and reads them into `buffer`, which is not empty. Returns their number; 0: the
  // peer ended the stream in good order. TIMEOUT deadline_passed: at the deadline; one in the past polls once.
  // COMM_FAILURE connection_lost or closed_here. close() wakes it. Thread: any, one at a time.
  virtual Expected<std::size_t> receive(MutableBytes buffer, Time deadline, os::WaitStrategy strategy) noexcept = 0;

  // Does the same, but may put bytes that lie in shared memory into `borrowed`. It does so for at least longest_copied
  // bytes, and only if both ends belong to one user, because the peer could change them meanwhile. Then `buffer` is
  // unused.
  virtual Expected<std::size_t> receive(MutableBytes buffer, Time deadline, os::WaitStrategy strategy,
                                        BorrowedBytes& /*borrowed*/) noexcept {
    return receive(buffer, deadline, strategy);
  }
  static constexpr std::size_t longest_copied = 64 * 1024;
  // Sets whether receive() may return borrowed bytes before all of them are there (BorrowedBytes::arriving). Then use
  // no way of receiving without `borrowed`. By default it does not. Thread: the one that reads.
  virtual void take_arriving(bool /*takes*/) noexcept {}

  // Reads like receive() with a deadline in the past, for callers that poll instead of sleeping. It costs less. But
  // descriptor() reports bytes only after another way of receiving has found none, and the peer's end may be seen a
  // millisecond later.
  virtual Expected<std::size_t> poll_receive(MutableBytes buffer) noexcept { return receive(buffer, Time{}, {}); }
  virtual Expected<std::size_t> poll_receive(MutableBytes buffer, BorrowedBytes& /*borrowed*/) noexcept {
    return poll_receive(buffer);
  }

  // Reads like receive() with a deadline in the past, and also tells when the bytes came. Over TCP that is the kernel's
  // time stamp. Otherwise, and for what came before the first take(), it is the time of the read.
  // A stamp comes from the realtime clock. If that clock is stepped while the bytes wait, the stamp is off by the step.
  // So it may be earlier than events that happened before the bytes came.
  virtual Expected<Arrival> take(MutableBytes buffer) noexcept = 0;
  virtual Expected<Arrival> take(MutableBytes buffer, BorrowedBytes& /*borrowed*/) noexcept { return take(buffer); }

  // Sends the parts together: no other send() comes between them. Never waits for the peer. What the socket does not
  // take at once is copied to a backlog, which an ordinary thread drains. While the rest of another thread's message
  // waits, all of this one is copied there. Success means accepted, not arrived. Thread: any, real-time ones and the
  // reactor's, too.
  // Errors: TRANSIENT send_backlog if the backlog holds something and would exceed its bound. TRANSIENT send_backlogs
  // if the peer holds too much altogether (MemoryBudget). NO_MEMORY. Each of these closes the connection.
  virtual Expected<void> send(std::span<const Bytes> parts) noexcept = 0;
  Expected<void> send(Bytes bytes) noexcept { return send(std::span<const Bytes>{&bytes, 1}); }
  // Returns memory for a message of at least so many bytes. Null: there is none now, or this kind of connection has
  // none. Thread: any.
  virtual std::unique_ptr<ReservedSendBuffer> send_buffer(std::size_t /*bytes*/) noexcept { return nullptr; }

  // Returns whether a message whose last part has so many bytes should be sent as two parts, rather than from a
  // ReservedSendBuffer. Then the peer reads it while send() still copies it. Thread: any.
  virtual bool sends_arriving(std::size_t /*bytes*/) noexcept { return false; }

  // Sends like send(), and sets `position` to where the bytes begin, for may_have_been_read().
  virtual Expected<void> send(std::span<const Bytes> parts, std::uint64_t& position) noexcept {
    position = 0;
    return send(parts);
  }
  // Does the same for senders that may wait, in the order in which they come. It may wait twice, until `until` at the
  // latest; with a time in the past it does not wait at all:
  // - for room, while more than half of the backlog's bound would wait for the peer. The other half is for senders that
  //   may not wait. If there is no room by then, it returns TIMEOUT no_send_room, and nothing was sent.
  // - for the peer to take the rest of a long message, beyond what the socket took at once, for 2 ms at most. A
  //   real-time thread never waits for that, nor does any thread if something else waits already. What the peer has not
  //   taken by then is copied to the backlog, and the result is success.
  // The parts must last until it returns. Thread: any but the reactor's. A task's job calls it with a time in the
  // future only within a SuspensionScope.
  // Errors: also TRANSIENT send_stalled: the peer took nothing for ConnectionLimits::backlog_timeout, and the
  // connection is closed.
  virtual Expected<void> send_by(Time /*until*/, std::span<const Bytes> parts, std::uint64_t& position) noexcept {
    return send(parts, position);
  }
  // Does the same, but does not wait for room: it returns no_send_room at once. It may wait with the rest of a long
  // message as send_by() does. So the sender's first attempt costs no copy, and if it fails, the sender may do
  // something else before it waits for room.
  virtual Expected<void> send_if_room(Time /*rest_until*/, std::span<const Bytes> parts,
                                      std::uint64_t& position) noexcept {
    return send_by(Time{}, parts, position);
  }
  // Closes the connection with send_stalled if something waits to be sent, and the peer has taken nothing of it for
  // ConnectionLimits::backlog_timeout. Only the time after `since` counts. For a thread that repeats send_by() without
  // waiting. Thread: any.
  virtual void close_if_stalled(Time /*since*/) noexcept {}
  // Call it when the connection has failed. Returns whether the peer may have looked at anything that was sent from
  // that position on. Thread: any.
  virtual bool may_have_been_read(std::uint64_t /*position*/) const noexcept { return true; }

  // Counts messages that were sent from a ReservedSendBuffer or as arriving bytes, and received as BorrowedBytes. For
  // reports and tests. Thread: any.
  struct Loans {
    std::uint64_t sent = 0, received = 0;
  };
  virtual Loans loans() const noexcept { return {}; }

  // Makes the reactor read from now on. The connection keeps the watcher until on_closed() or unwatch().
  virtual void watch(std::shared_ptr<Watcher> watcher) = 0;
  // Ends watching. No callback runs after it returned. It waits for a callback that runs now, unless called from inside
  // it.
  virtual void unwatch() = 0;
  // Pause and resume reading of a watched connection. While paused it is not read, until the peer has ended it and
  // nothing is left to read. pause_reading(): thread: the reactor's. resume_reading(): any thread, also if nothing was
  // paused.
  virtual void pause_reading() noexcept {}
  virtual void resume_reading() noexcept {}
  // Closes a watched connection with deadline_passed unless expect_by() is called again before `deadline`. `never`
  // cancels the deadline. It is for incomplete messages: a peer that sends a header and stalls. Thread: any.
  virtual void expect_by(Time deadline) noexcept = 0;

  // Marks a connection that carries requests for tasks. From now on it is read on the budget of those tasks
  // (Reactor::limit_reads). An ordinary thread soon does what keep_memory() does. Thread: any.
  virtual void read_for_tasks() noexcept {}
  // Notes that a message has come, and whether a contract foresees it (Reactor::limit_unforeseen_reads). Thread: the
  // one that reads.
  virtual void charge_message(bool /*is_foreseen*/) noexcept {}
  // Prepares a connection that carries calls of a task. Takes all memory that its messages may need, and keeps it as
  // long as the connection lives. So no call has to wait for memory. Takes milliseconds. Thread: any but a real-time
  // one.
  virtual void keep_memory() noexcept {}
  // Returns the bytes of shared memory that this end has taken from the system for the connection. Thread: any.
  virtual std::size_t channel_memory() const noexcept { return 0; }

  // Restarts the idle timeout, as bytes that come and every send() do. Thread: any.
  virtual void renew() noexcept = 0;
  // Notes that the peer has sent a whole message. Before that the connection may have to give way earlier. Thread: any.
  virtual void note_first_message() noexcept {}

  // Ends both directions. What the socket has taken still arrives; the backlog does not. Idempotent. Thread: any.
  virtual void close() noexcept = 0;
  virtual bool is_open() const noexcept = 0;
  // Closes in good order. Refuses every later send() with closed_here, sends the backlog, and closes: as soon as the
  // peer's system has everything, or at `deadline`. Until then reading continues. Closes at once if nothing waits.
  // Idempotent; close() ends it early. Thread: any.
  virtual void close_when_sent(Time /*deadline*/) noexcept { close(); }
  // Waits until the connection is closed, by either side's close() or close_when_sent(). Returns false if `deadline`
  // came first. Thread: any but the reactor's.
  virtual bool wait_until_closed(Time /*deadline*/) noexcept { return !is_open(); }

  // Sets a monitor, which is told of the peer's end although no thread reads, and of idle times. The connection does
  // not keep it. Call it once for each connection, and not together with watch(). std::bad_alloc. Thread: any.
  virtual void set_monitor(std::weak_ptr<ConnectionMonitor> /*monitor*/) {}

  virtual const Endpoint& local() const noexcept = 0;
  virtual const Endpoint& peer() const noexcept = 0;
  // Sets the party that reads with receive() from now on. It may be asked to give way. Thread: any.
  virtual void read_by(std::weak_ptr<Reader> /*reader*/) noexcept {}
  // Arms descriptor() for the receiving thread, between two calls of receive(): from now on it is readable as soon as
  // something comes. Returns false if something is there already; then descriptor() need not report it.
  virtual bool await_bytes() noexcept { return true; }
  // Does the same for a thread that goes on to wait for descriptor(), which is readable also if something is there
  // already. A receive() that waits ends this. Thread: as await_bytes().
  virtual void arm_descriptor() noexcept {}
  // Returns whether the backlog is empty. If not, Reader::on_drained() is called when it is. A reader that stops
  // reading requests while the peer takes no replies keeps the backlog small. Thread: the receiving one.
  virtual bool await_drained() noexcept { return true; }
  // Returns when the peer last took something of the backlog, or when it began to fill. Thread: any.
  virtual Time backlog_taken_at() const noexcept { return never; }
  // How far the peer has ended the connection, as far as the system knows. What it sent before may be unread. Thread:
  // any.
  enum class PeerEnd : std::uint8_t { none, sends_nothing, both_directions };
  virtual PeerEnd peer_end() const noexcept { return is_open() ? PeerEnd::none : PeerEnd::both_directions; }
  // Returns whether something has come that was not read yet. The peer's end does not count. Thread: the one that
  // reads.
  virtual bool has_unread() noexcept { return has_bytes(); }
  // Returns when the idle timeout began last: at the latest bytes that came, send(), renew(), watch() or
  // set_monitor(). Without an idle timeout, sends and renew() do not count. `never`: this kind keeps no such time.
  // Thread: any.
  virtual Time last_traffic() const noexcept { return never; }
  // Returns whether something has come that was not read yet. Call it after await_bytes(). Thread: any.
  virtual bool has_bytes() const noexcept { return false; }

  // Returns a descriptor that is readable when receive() may have something, for a poll together with others. The
  // caller never reads or closes it. Constant; -1 if this kind has none. Thread: any.
  virtual int descriptor() const noexcept { return -1; }
  // Returns a descriptor that reports the peer's end by EPOLLRDHUP and EPOLLHUP, also while no thread reads. Constant.
  // Thread: any.
  virtual int hang_up_descriptor() const noexcept { return descriptor(); }
  // Returns nothing if the peer came over the network.
  virtual std::optional<PeerCredentials> credentials() const noexcept { return std::nullopt; }
  // Returns all groups of the peer's process, primary and supplementary. Asks the kernel, see os::peer_groups(). Empty
  // if the peer came over the network.
  virtual std::vector<gid_t> groups() const { return {}; }
  // Returns a number that is unique in this process, never used again, and never 0.
  virtual PeerId id() const noexcept = 0;
  // Returns the account that counts what the peer makes this process hold; null: there is none. Constant. Thread: any.
  virtual std::shared_ptr<MemoryAccount> memory() const noexcept { return nullptr; }
};

}  // namespace corelane::transport
