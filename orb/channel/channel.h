// Channel: one end of a two-way link between two processes of one host, in memory that both see. Messages keep their
// boundaries and their order; each was written whole or is not there. Either process may end at any instruction: the
// other one reads what was complete and is told.
//
//   Listener listener = *Listener::listen("/run/plant.channel", {});      (in one process)
//   Channel there = *listener.accept(deadline);
//   Channel here = *Channel::connect("/run/plant.channel", {}, deadline);   (in another)
//   here.write(message, deadline);
//   Expected<std::size_t, Fault> size = there.read(buffer, deadline);
//
// Threads: one reads and one writes at a time, each any thread; close(), is_open(), look_at_peer() and what is constant
// any. Reading and writing block only in the calls that take a deadline, allocate nothing, and call the system only
// to sleep, to wake, and once in a millisecond of spinning. Set-up does all of that: not on a real-time thread.
// A handle is move-only; the last Loan keeps the memory, nothing else does. Not across fork().
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "orb/base/bytes.h"
#include "orb/base/expected.h"
#include "orb/base/time.h"
#include "orb/channel/fault.h"
#include "orb/channel/options.h"
#include "orb/channel/peer_watch.h"
#include "orb/os/wait.h"

namespace corelane::channel {

class End;
class GrowthMeter;
struct EndParts;

// A large message where the peer wrote it: read it in place, without a copy. Its chunks go back to the peer with this
// handle, on any thread, in any order, and also after the channel. A hostile peer may still change the bytes: copy what
// is to be checked.
class Loan {
 public:
  Loan(std::shared_ptr<End> end, std::uint32_t first, Bytes bytes) noexcept;
  Loan(Loan&& other) noexcept = default;
  Loan& operator=(Loan&& other) noexcept;
  ~Loan() { release(); }

  Bytes bytes() const noexcept { return bytes_; }
  void release() noexcept;

 private:
  std::shared_ptr<End> end_;
  std::uint32_t first_ = 0;
  Bytes bytes_;
};

// Room for a large message, to be written in place. It goes back unsent with this handle. Thread: the writer's.
class Draft {
 public:
  Draft(std::shared_ptr<End> end, std::uint32_t first, MutableBytes bytes) noexcept;
  Draft(Draft&& other) noexcept = default;
  Draft& operator=(Draft&&) = delete;
  ~Draft();

  MutableBytes bytes() const noexcept { return bytes_; }

 private:
  friend class Channel;
  std::shared_ptr<End> end_;
  std::uint32_t first_ = 0;
  MutableBytes bytes_;
};

class Channel {
 public:
  // Sets a channel up with the Listener at the path, or with the abstract name "@name". Blocks until `deadline`.
  static Expected<Channel, SetupFault> connect(const std::string& path, const Options& options, Time deadline);
  // Both ends of a connected Unix socket of kind SOCK_SEQPACKET, which somebody else made.
  static Expected<Channel, SetupFault> connect_over(os::Fd socket, const Options& options, Time deadline);
  static Expected<Channel, SetupFault> accept_over(os::Fd socket, const Options& options, Time deadline);

  // What a handshake came to; for Listener.
  static Expected<Channel, SetupFault> of(Expected<EndParts, SetupFault> parts, const Options& options);

  Channel(Channel&&) noexcept;
  Channel& operator=(Channel&&) noexcept;
  ~Channel();  // closes

  // ---- Writing. Thread: the writer's.

  // One message of all parts. would_block: no room, nothing was written. Messages above inline_limit() go through
  // chunks.
  Expected<void, Fault> try_write(std::span<const Bytes> parts) noexcept;
  Expected<void, Fault> try_write(Bytes message) noexcept;
  // Waits for room. Success means written, not read.
  Expected<void, Fault> write(std::span<const Bytes> parts, Time deadline) noexcept;
  Expected<void, Fault> write(Bytes message, Time deadline) noexcept;
  // Chunks for a message of up to `size` bytes, more than 0. would_block: none are free now.
  Expected<Draft, Fault> draft(std::size_t size) noexcept;
  // Waits for some.
  Expected<Draft, Fault> draft(std::size_t size, Time deadline) noexcept;
  // The first `size` bytes of a draft of this channel as one message, which uses it up. After a fault it is as it was
  // before. too_long also where it was sent already, or is another channel's.
  Expected<void, Fault> try_send(Draft& draft, std::size_t size) noexcept;
  Expected<void, Fault> send(Draft& draft, std::size_t size, Time deadline) noexcept;
  // Where the last message ended, for was_claimed().
  std::uint64_t written() const noexcept;
  std::size_t inline_limit() const noexcept;     // constant
  std::size_t longest_message() const noexcept;  // constant; the peer's own limit may differ

  // Whether the peer may have looked at the message that ended there; when it may not, and it died, nothing happened.
  // Thread: any.
  bool was_claimed(std::uint64_t position) const noexcept;

  // ---- Reading. Thread: the reader's.

  // One message into `buffer`: its size. would_block; too_long: the message stays, peek() tells how long it is.
  Expected<std::size_t, Fault> try_read(MutableBytes buffer) noexcept;
  Expected<std::size_t, Fault> read(MutableBytes buffer, Time deadline) noexcept;
  // The oldest message where it is, until pop(): to copy it in parts. It may change meanwhile when the peer is hostile.
  Expected<Bytes, Fault> peek() noexcept;
  void pop() noexcept;
  // The message of peek() as a loan, which leaves the ring at once; nothing when it came inline. Replaces pop().
  std::optional<Loan> take() noexcept;
  // Until peek() has something to say other than would_block. With a strategy of this call alone.
  Expected<void, Fault> wait(Time deadline) noexcept;
  Expected<void, Fault> wait(Time deadline, os::WaitStrategy strategy) noexcept;

  // For those who watch descriptors: readable after a message came, if arm() said true before: there was nothing to
  // read. Afterwards, and before any other wait, disarm(). With Wake::signal the signal comes instead, to the thread
  // that called arm(). It may be readable without a message: look, and arm() again.
  // With Wake::eventfd a descriptor for that alone; with Wake::futex hang_up_descriptor() if the peer knows far sleep;
  // otherwise -1. Constant.
  int descriptor() const noexcept;
  bool arm() noexcept;
  void disarm() noexcept;
  // Makes descriptor() readable, with Wake::eventfd. Thread: any.
  void nudge() noexcept;
  // The same for room, thread: the writer's. arm_for_room(): true when there is none for a message of that size.
  int room_descriptor() const noexcept;  // -1 without Wake::eventfd; constant
  bool arm_for_room(std::size_t size) noexcept;
  void disarm_for_room() noexcept;
  void nudge_for_room() noexcept;

  // ---- Memory. Thread: the writer's, where none is named. With Options::grows; otherwise all memory is there always.

  // From here on the meter is asked before this end takes memory for chunks, and may refuse: then long messages go
  // through the ring in pieces, as where no chunk is free. It outlives every later call but the destructor.
  void measure_growth(GrowthMeter* meter) noexcept;
  // Bytes that this end has taken from the system for what it writes. Thread: any.
  std::size_t memory() const noexcept;
  // Whether give_back_some() may find something, now or later.
  bool may_shrink() const noexcept;
  // Whether no chunk was lent since the last call.
  bool was_quiet() noexcept;
  // Gives back memory of chunks that nobody uses, up to `most` bytes or one chunk. False: there is no more of it.
  bool give_back_some(std::size_t most) noexcept;
  // For real-time callers, before they call: from the first call on nothing is given back, and each call takes memory
  // for up to `most` bytes of chunks, or one. False: all have some, or the system has none. Then hold_memory().
  bool take_some(std::size_t most) noexcept;
  // Maps what both ends write, and locks it where this process may. Takes milliseconds. Thread: any.
  void hold_memory() const noexcept;

  // ---- Both

  // The peer may read on what was written. Wakes whoever waits on either end. Idempotent.
  void close() noexcept;
  bool is_open() const noexcept;  // false: a call has failed, or will, with other than would_block, timed_out, too_long
  // Asks the kernel, now, whether the peer lives: for those who neither read nor wait. One system call.
  bool look_at_peer() noexcept;
  // The socket: hangs up with the peer, for those who watch descriptors. Not to be read by them. Constant.
  int hang_up_descriptor() const noexcept;
  int process_descriptor() const noexcept;  // readable once the peer's process has ended; -1: see sees_process()
  const Peer& peer() const noexcept;
  const std::shared_ptr<void>& pass() const noexcept;  // what Options::porter gave; null: there was none
  std::uint64_t id() const noexcept;                   // both ends say the same
  bool is_locked() const noexcept;                     // Options::lock_memory was asked for and granted
  bool sees_process() const noexcept;                  // see PeerWatch

 private:
  explicit Channel(std::shared_ptr<End> end) noexcept;
  std::shared_ptr<End> end_;
};

}  // namespace corelane::channel
