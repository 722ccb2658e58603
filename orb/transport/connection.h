// Connection: an ordered stream of bytes in both directions between two processes; and Watcher, who reads it from the
// reactor. What every kind must do is tests/support/byte_transport_suite.h.
//
// Who reads: at any time a connection is either watched (the reactor reads and calls the Watcher) or received from (one
// caller at a time, on its own thread), never both. watch() while another thread is in receive(), receive() while
// watched and two receive() at once are bugs of the caller: they assert, and without assertions receive() answers
// BAD_INV_ORDER. unwatch() makes the connection free for receive() again, with no byte lost in between.
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
#include "orb/os/wait.h"
#include "orb/transport/endpoint.h"

namespace corelane::transport {

// Bytes that the peer wrote into memory that both see: they stay there as long as `keeper`.
struct Lent {
  Bytes bytes{};
  std::shared_ptr<const void> keeper{};  // null: there are none

  // The keeper of a long part of the bytes; null: it lies elsewhere, or is better copied.
  std::shared_ptr<const void> keeper_of(Bytes part) const noexcept {
    return part.size() >= worth_keeping && holds(bytes, part) ? keeper : nullptr;
  }
  static constexpr std::size_t worth_keeping = 32 * 1024;
};

// Of a connection that has ended: COMM_FAILURE with one of the minors that Watcher::on_closed() names.
constexpr Error ended_by(std::uint32_t minor) noexcept { return {.kind = ErrorKind::comm_failure, .minor = minor}; }

// Thread: the reactor's, one call at a time. A callback does not block; it may call any function of the connection.
class Watcher {
 public:
  virtual ~Watcher() = default;

  // Bytes as they come, in no relation to messages; valid during the call. `received`: when they were read.
  virtual void on_bytes(Bytes bytes, Time received) noexcept = 0;

  // The same of bytes in memory that both see, without a copy; see Connection::receive(). Who takes no keeper needs
  // them during the call alone.
  virtual void on_lent(Lent lent, Time received) noexcept { on_bytes(lent.bytes, received); }

  // How many bytes are missing of the message under way; 0: none is, or messages mean nothing to the watcher.
  virtual std::size_t rest_of_message() const noexcept { return 0; }

  // There is something to read, and the reactor has used up what it may use for what no contract foresees. True: the
  // watcher has called unwatch() and has others read the connection. False: it waits.
  virtual bool read_elsewhere() noexcept { return false; }

  // Reading is paused, and the peer has ended both directions: it takes no answers any more. What it sent before is
  // still to be read. May come again.
  virtual void on_peer_gone() noexcept {}

  // Whether nothing is under way for the peer, so that the connection may end for the sake of another.
  virtual bool is_idle() noexcept { return false; }
  // Whether the peer waits for an answer that is being made: then the connection is in use, however quiet it is.
  virtual bool owes_answer() noexcept { return false; }
  // After is_idle(): another needs its place. Says goodbye in the protocol above, if that has such a word, and closes.
  virtual void give_way() noexcept {}

  // The last call, exactly once for each watch() unless unwatch() came first. COMM_FAILURE with minor peer_closed (the
  // peer's orderly end), connection_lost, closed_here (close() on this side), idle_timeout, deadline_passed
  // (expect_by), shutting_down (the reactor stopped), TRANSIENT send_backlog, send_backlogs or send_stalled, or
  // NO_MEMORY out_of_memory. Thread: the reactor's; when the reactor has stopped already, the caller's of watch().
  virtual void on_closed(Error reason) noexcept = 0;
};

// Hears of a connection that no Watcher reads. Thread: the reactor's, one call at a time; a call does not block.
class ConnectionMonitor {
 public:
  virtual ~ConnectionMonitor() = default;

  // The peer has ended the connection or is gone. Bytes that it sent before may still wait to be read.
  virtual void on_peer_end() noexcept = 0;
  // Nothing was sent for ConnectionLimits::idle_timeout; again after each further such time.
  virtual void on_idle() noexcept = 0;
};

// Who is at the other end of a Unix socket, as the kernel says: whoever called connect() or listen().
struct PeerCredentials {
  std::int32_t process = 0;  // as this process's namespace numbers it
  std::uint32_t user = 0;
};

// What one read gave.
struct Arrival {
  std::size_t count = 0;  // bytes; 0: the peer ended the stream in good order
  Time at{};              // when the last of them came
};

// Memory of a connection's for one long message: when send() is given what begins there, and nothing else, it is not
// copied. It goes back with this object unless it was sent. Keeps the connection. Thread: any.
class Berth {
 public:
  virtual ~Berth() = default;
  virtual MutableBytes bytes() const noexcept = 0;
};

// Who reads a connection by receive(), as far as the listener has to know.
class Reader {
 public:
  virtual ~Reader() = default;
  // Another connection needs the place of this one: says goodbye and closes it, unless something is under way. Whether
  // it has ended. Thread: the reactor's.
  virtual bool try_give_way() noexcept = 0;
  // After Connection::await_drained() was false: nothing waits in the backlog any more, or the connection has closed.
  // Thread: any.
  virtual void on_drained() noexcept = 0;
};

class MemoryAccount;

class Connection {
 public:
  virtual ~Connection() = default;

  // Waits until some bytes are there and puts them into `buffer` (not empty): their number; 0 when the peer ended the
  // stream in good order; TIMEOUT deadline_passed at the deadline (one in the past polls once); COMM_FAILURE
  // connection_lost or closed_here. Thread: any, one at a time. Wakes up by itself when close() is called.
  virtual Expected<std::size_t> receive(MutableBytes buffer, Time deadline, os::WaitStrategy strategy) noexcept = 0;

  // The same, but what lies in memory that both see may come into `lent`, at least longest_copied bytes of it and only
  // where both ends are of one user: the peer could change them meanwhile. Then nothing is in `buffer`.
  virtual Expected<std::size_t> receive(MutableBytes buffer, Time deadline, os::WaitStrategy strategy,
                                        Lent& /*lent*/) noexcept {
    return receive(buffer, deadline, strategy);
  }
  static constexpr std::size_t longest_copied = 64 * 1024;

  // receive() with a deadline in the past for whoever looks again and again instead of sleeping: it costs less, but
  // descriptor() tells of bytes only after another way of receiving has found none, and the peer's end may be seen a
  // millisecond later.
  virtual Expected<std::size_t> glance(MutableBytes buffer) noexcept { return receive(buffer, Time{}, {}); }
  virtual Expected<std::size_t> glance(MutableBytes buffer, Lent& /*lent*/) noexcept { return glance(buffer); }

  // receive() with a deadline in the past, which also says when the bytes came: by the kernel's time stamp over TCP,
  // otherwise, and for what came before the first take(), when they were read. A stamp is one of the realtime clock: it
  // is off by what that is stepped while the bytes wait, and may be before what the caller knows, or not.
  virtual Expected<Arrival> take(MutableBytes buffer) noexcept = 0;
  virtual Expected<Arrival> take(MutableBytes buffer, Lent& /*lent*/) noexcept { return take(buffer); }

  // Sends the parts as one piece: nothing of another send() comes between. Never blocks: what the socket does not take
  // at once is copied to a backlog that an ordinary thread drains. TRANSIENT send_backlog when that holds something and
  // would exceed its bound, send_backlogs when the peer holds too much altogether (MemoryBudget); the connection is
  // then closed, as it is with NO_MEMORY. Success means accepted, not arrived. Thread: any.
  virtual Expected<void> send(std::span<const Bytes> parts) noexcept = 0;
  Expected<void> send(Bytes bytes) noexcept { return send(std::span<const Bytes>{&bytes, 1}); }
  // For a message of at least so many bytes; null: there is none now, or this kind has none. Thread: any.
  virtual std::unique_ptr<Berth> berth(std::size_t /*bytes*/) noexcept { return nullptr; }

  // send(), and where it begins, for may_have_been_read().
  virtual Expected<void> send(std::span<const Bytes> parts, std::uint64_t& position) noexcept {
    position = 0;
    return send(parts);
  }
  // The same for who may wait, in the order in which they come: where more than half of the backlog's bound would wait
  // for the peer, so that the other half is there for those who may not. TIMEOUT no_send_room: there was no room until
  // then, and nothing was sent; with a time in the past it asks once. TRANSIENT send_stalled: the peer took nothing for
  // ConnectionLimits::backlog_timeout, and the connection is closed. Thread: any but the reactor's.
  virtual Expected<void> send_by(Time /*until*/, std::span<const Bytes> parts, std::uint64_t& position) noexcept {
    return send(parts, position);
  }
  // Closes the connection with send_stalled if something waits for the peer since then at least, and the peer has taken
  // nothing for ConnectionLimits::backlog_timeout: for a thread that tries send_by() again and again without waiting.
  // Thread: any.
  virtual void close_if_stalled(Time /*since*/) noexcept {}
  // Once the connection has failed: whether the peer may have looked at any of what was sent from that position on.
  // Thread: any.
  virtual bool may_have_been_read(std::uint64_t /*position*/) const noexcept { return true; }

  // Messages that were sent from a Berth, and that came as Lent. For reports and tests. Thread: any.
  struct Loans {
    std::uint64_t sent = 0, received = 0;
  };
  virtual Loans loans() const noexcept { return {}; }

  // From here on the reactor reads. The connection keeps the watcher until on_closed() or unwatch().
  virtual void watch(std::shared_ptr<Watcher> watcher) = 0;
  // No callback runs after it returned; it waits for one that runs now, unless called from inside it.
  virtual void unwatch() = 0;
  // A watched connection is not read until resume_reading(), or until the peer has ended it and nothing is left to be
  // read. pause_reading() on the reactor's thread, resume_reading() any, which may come for nothing.
  virtual void pause_reading() noexcept {}
  virtual void resume_reading() noexcept {}
  // A watched connection closes with deadline_passed unless expect_by() is called again before `deadline`; `never`
  // takes the deadline back. For half messages: a peer that sends a header and stalls. Thread: any.
  virtual void expect_by(Time deadline) noexcept = 0;

  // Requests for tasks come over it: from here on it is read at their expense (Reactor::limit_reads), and an ordinary
  // thread soon does what keep_memory() does. Thread: any.
  virtual void read_for_tasks() noexcept {}
  // A message has come, and a contract foresees it or does not (Reactor::limit_unforeseen_reads). Thread: the one
  // that reads.
  virtual void charge_message(bool /*is_foreseen*/) noexcept {}
  // Calls of a task go over it: takes all memory that its messages may need, and keeps it as long as the connection
  // lives, so that no call has to wait for memory. Takes milliseconds. Thread: any but a real-time one.
  virtual void keep_memory() noexcept {}
  // Bytes of shared memory that this end has taken from the system for the connection. Thread: any.
  virtual std::size_t channel_memory() const noexcept { return 0; }

  // The idle time-out starts over, as it does when bytes come or go. Thread: any.
  virtual void renew() noexcept = 0;
  // The peer has sent a whole message. Until this is called the connection may have to give way earlier. Thread: any.
  virtual void note_first_message() noexcept {}

  // Ends both directions; what the socket has taken still arrives, the backlog does not. Idempotent. Thread: any.
  virtual void close() noexcept = 0;
  virtual bool is_open() const noexcept = 0;
  // The orderly end. Refuses every later send() with closed_here, sends the backlog, and then closes: as soon as the
  // peer's system has everything, or at `deadline`. Until then its reader reads on. Closes at once
  // when nothing waits. Idempotent; close() ends it early. Thread: any.
  virtual void close_when_sent(Time /*deadline*/) noexcept { close(); }
  // Waits until the connection is closed, by either side's close() or close_when_sent(). False: `deadline` came first.
  // Thread: any but the reactor's.
  virtual bool wait_until_closed(Time /*deadline*/) noexcept { return !is_open(); }

  // The monitor hears of the peer's end although nobody reads, and of idle times. The connection does not keep it.
  // Once for each connection, and not together with watch(). std::bad_alloc. Thread: any.
  virtual void set_monitor(std::weak_ptr<ConnectionMonitor> /*monitor*/) {}

  virtual const Endpoint& local() const noexcept = 0;
  virtual const Endpoint& peer() const noexcept = 0;
  // Who reads it from here on by receive(); it may be asked to give way. Thread: any.
  virtual void read_by(std::weak_ptr<Reader> /*reader*/) noexcept {}
  // For the receiving thread, between two calls of receive(): from here on descriptor() is readable as soon as
  // something comes. False: something is there already, and descriptor() need not tell of it.
  virtual bool await_bytes() noexcept { return true; }
  // The same for a thread that goes on to wait for descriptor(): it is readable also if something is there already. A
  // receive() that waits ends this. Thread: as await_bytes().
  virtual void arm_descriptor() noexcept {}
  // Whether nothing waits in the backlog. Else Reader::on_drained() is called when that is so: who reads no requests of
  // a peer that takes no replies keeps the backlog small. Thread: the receiving one.
  virtual bool await_drained() noexcept { return true; }
  // When the peer last took something of the backlog, or it began to fill. Thread: any.
  virtual Time backlog_taken_at() const noexcept { return never; }
  // How far the peer has ended the connection, as far as the system knows; what it sent before may be unread. Thread:
  // any.
  enum class PeerEnd : std::uint8_t { none, sends_nothing, both_directions };
  virtual PeerEnd peer_end() const noexcept { return is_open() ? PeerEnd::none : PeerEnd::both_directions; }
  // Whether something came that nobody has read; the peer's end is nothing. Thread: the one that reads.
  virtual bool has_unread() noexcept { return has_bytes(); }
  // When something came or went last, or renew() was called; where there is an idle time-out. Thread: any.
  virtual Time last_traffic() const noexcept { return never; }
  // Whether something came that nobody has read. After await_bytes(). Thread: any.
  virtual bool has_bytes() const noexcept { return false; }

  // Readable when receive() may have something, for a poll together with other descriptors; never read or closed by the
  // caller. Constant; -1 when this kind has none. Thread: any.
  virtual int descriptor() const noexcept { return -1; }
  // Tells of the peer's end by EPOLLRDHUP and EPOLLHUP, also while nobody reads. Constant. Thread: any.
  virtual int hang_up_descriptor() const noexcept { return descriptor(); }
  // Nothing when the peer came over the network.
  virtual std::optional<PeerCredentials> credentials() const noexcept { return std::nullopt; }
  // All groups of that peer's process, primary and supplementary; asks the kernel: os::peer_groups(). None when the
  // peer came over the network.
  virtual std::vector<gid_t> groups() const { return {}; }
  // Of this process, never used again; never 0.
  virtual PeerId id() const noexcept = 0;
  // What the peer makes this process hold is counted there; null: nobody counts it. Constant. Thread: any.
  virtual std::shared_ptr<MemoryAccount> memory() const noexcept { return nullptr; }
};

}  // namespace corelane::transport
