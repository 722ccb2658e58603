// Channel is one end of a two-way link between two processes of one host, in memory that both map. Messages keep their
// boundaries and their order. A message is either written whole or not there, unless the reader asks for long ones
// earlier (set_takes_growing()). Either process may end at any instruction: the other one reads what was complete, and
// is told of the end.
//
//   Listener listener = *Listener::listen("/run/plant.channel", {});      (in one process)
//   Channel there = *listener.accept(deadline);
//   Channel here = *Channel::connect("/run/plant.channel", {}, deadline);   (in another)
//   here.write(message, deadline);
//   Expected<std::size_t, Fault> size = there.read(buffer, deadline);
//
// Threads: one thread at a time reads and one writes, each of them any thread. close(), is_open(), look_at_peer() and
// constant values: any thread. Reading and writing block only in the calls that take a deadline. They allocate nothing.
// They make system calls only to sleep, to wake, and once in a millisecond of spinning. Set-up blocks, allocates and
// makes system calls: do not call it on a real-time thread.
// A handle is move-only. The memory stays mapped until the Channel and all its Loans and Drafts are gone. A channel
// does not work across fork().
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
#include "orb/os/wait/wait.h"

namespace corelane::channel {

class End;
class GrowthMeter;
struct EndParts;

// Loan is a large message that stays where the peer wrote it, so that it is read in place, without a copy. Its
// destructor gives the chunks back to the peer: on any thread, in any order, and also after the channel has gone. A
// hostile peer may still change the bytes, so copy what you have to check.
class Loan {
 public:
  // `begin`: of a growing loan.
  Loan(std::shared_ptr<End> end, std::uint32_t first, Bytes bytes, std::optional<std::uint64_t> begin = {}) noexcept;
  Loan(Loan&& other) noexcept = default;
  Loan& operator=(Loan&& other) noexcept;
  ~Loan() { release(); }

  Bytes bytes() const noexcept { return bytes_; }
  // Returns how many of the bytes are there; see Channel::set_takes_growing(). Thread: any.
  std::size_t ready() const noexcept;
  // Waits until at least the first `size` bytes are there, and returns how many are. It spins for some microseconds,
  // and then sleeps for a short time again and again until `deadline`. A time in the past: it does not sleep. peer_died
  // and others: they will not come. Thread: any.
  Expected<std::size_t, Fault> await(std::size_t size, Time deadline) const noexcept;
  void release() noexcept;

 private:
  std::shared_ptr<End> end_;
  std::uint32_t first_ = 0;
  Bytes bytes_;
  std::optional<std::uint64_t> begin_;
};

// Draft is room for a large message that is written in place. The destructor gives the room back if it was not sent.
// Thread: the writer's.
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
  // Sets up a channel with the Listener at the path, or at the abstract name "@name". Waits at most until `deadline`.
  static Expected<Channel, SetupFault> connect(const std::string& path, const Options& options, Time deadline);
  // Set up the two ends over a connected Unix socket of kind SOCK_SEQPACKET that the caller made.
  static Expected<Channel, SetupFault> connect_over(os::Fd socket, const Options& options, Time deadline);
  static Expected<Channel, SetupFault> accept_over(os::Fd socket, const Options& options, Time deadline);

  // Makes a channel of the result of a handshake. For Listener.
  static Expected<Channel, SetupFault> of(Expected<EndParts, SetupFault> parts, const Options& options);

  Channel(Channel&&) noexcept;
  Channel& operator=(Channel&&) noexcept;
  ~Channel();  // closes

  // ---- Writing. Thread: the writer's.

  // Writes one message that consists of all parts. would_block: there is no room, and nothing was written. Messages
  // longer than inline_limit() go through chunks.
  Expected<void, Fault> try_write(std::span<const Bytes> parts) noexcept;
  Expected<void, Fault> try_write(Bytes message) noexcept;
  // Waits for room. Success means that the message was written, not that it was read.
  Expected<void, Fault> write(std::span<const Bytes> parts, Time deadline) noexcept;
  Expected<void, Fault> write(Bytes message, Time deadline) noexcept;
  // Takes chunks for a message of up to `size` bytes, more than 0. would_block: none are free now.
  Expected<Draft, Fault> draft(std::size_t size) noexcept;
  // Waits for free chunks.
  Expected<Draft, Fault> draft(std::size_t size, Time deadline) noexcept;
  // Sends the first `size` bytes of a draft of this channel as one message. This uses the draft up; after a fault it is
  // unchanged. too_long also means that the draft was already sent, or belongs to another channel.
  Expected<void, Fault> try_send(Draft& draft, std::size_t size) noexcept;
  Expected<void, Fault> send(Draft& draft, std::size_t size, Time deadline) noexcept;
  // Begins to send one message that consists of head and tail, and lets the peer read it while this end still copies
  // the tail. Copies the head and the beginning of the tail. Then call write_rest(), beside which other threads may
  // write other messages, and after it end_growing(). would_block: !may_begin_growing(), there is no room, or the
  // message or its head is too short or too long for it; nothing was written. The tail must stay as it is meanwhile.
  Expected<void, Fault> begin_growing(Bytes head, Bytes tail) noexcept;
  // Copies the rest. Thread: the one that called begin_growing().
  void write_rest() noexcept;
  void end_growing() noexcept;
  // Returns whether the peer knows such messages, this end writes none now, and take_some() was not called. The
  // connector's end also requires that the peer does not sleep.
  bool may_begin_growing() const noexcept;
  // Returns whether this end has begun a message that it has not ended. Thread: any.
  bool is_growing() const noexcept;
  // Returns the position where the last message ended, for was_claimed().
  std::uint64_t written() const noexcept;
  std::size_t inline_limit() const noexcept;     // constant
  std::size_t longest_message() const noexcept;  // constant; the peer's own limit may differ

  // Returns whether the peer may have looked at the message that ended at that position. If it returns false and the
  // peer died, the message had no effect. Thread: any.
  bool was_claimed(std::uint64_t position) const noexcept;

  // ---- Reading. Thread: the reader's.

  // Reads one message into `buffer`, and returns its size. would_block: there is none. too_long: the message stays, and
  // peek() tells how long it is.
  Expected<std::size_t, Fault> try_read(MutableBytes buffer) noexcept;
  Expected<std::size_t, Fault> read(MutableBytes buffer, Time deadline) noexcept;
  // Returns the oldest message in place, valid until pop(), to be copied in parts. A hostile peer may change it
  // meanwhile.
  Expected<Bytes, Fault> peek() noexcept;
  void pop() noexcept;
  // Sets whether peek() and take() return a long message before all of it is there. Only the first Loan::ready() bytes
  // of such a loan are valid. By default they return whole messages.
  void set_takes_growing(bool takes) noexcept;
  // Returns the message of peek() as a loan, which leaves the ring at once: then do not call pop(). Returns nothing if
  // the message came inline (pop() it after use), or if there is none.
  std::optional<Loan> take() noexcept;
  // Blocks until peek() would return something other than would_block. The strategy applies to this call alone.
  Expected<void, Fault> wait(Time deadline) noexcept;
  Expected<void, Fault> wait(Time deadline, os::WaitStrategy strategy) noexcept;

  // For callers that watch descriptors. If arm() returns true, there is nothing to read, and the descriptor becomes
  // readable when a message comes. Afterwards, and before any other wait, call disarm(). With Wake::signal the signal
  // comes instead, to the thread that called arm(). The descriptor may become readable without a message: then check,
  // and call arm() again.
  // With Wake::eventfd this is a descriptor for that purpose alone. With Wake::futex it is hang_up_descriptor() if the
  // peer supports far sleep. Otherwise it is -1. Constant.
  int descriptor() const noexcept;
  bool arm() noexcept;
  void disarm() noexcept;
  // Makes descriptor() readable, with Wake::eventfd. Thread: any.
  void make_readable() noexcept;
  // The same for room. Thread: the writer's. arm_for_room() returns true if there is no room for a message of that
  // size.
  int room_descriptor() const noexcept;  // -1 without Wake::eventfd; constant
  bool arm_for_room(std::size_t size) noexcept;
  void disarm_for_room() noexcept;
  void make_room_readable() noexcept;

  // ---- Memory. Thread: the writer's, unless another is named. With Options::grows; without it all memory is always
  // there.

  // From now on this end asks the meter before it takes memory for chunks. If the meter refuses, a
  // long message gets would_block, as when no chunk is free; orb/transport then sends it in pieces. Keep the meter
  // alive as long as you call this channel; only the destructor does not need it.
  void measure_growth(GrowthMeter* meter) noexcept;
  // Returns the bytes that this end has taken from the system for what it writes. Thread: any.
  std::size_t memory() const noexcept;
  // Returns whether give_back_some() may find something, now or later.
  bool may_shrink() const noexcept;
  // Returns whether no chunk was lent since the last call.
  bool was_quiet() noexcept;
  // Gives back memory of unused chunks, up to `most` bytes or one chunk. Returns false if there is no more of it.
  bool give_back_some(std::size_t most) noexcept;
  // Prepares the channel for real-time callers; call it before they use the channel. From the first call on nothing is
  // given back, and each call takes memory for chunks, up to `most` bytes or one chunk. Returns false if all chunks
  // have memory, or the system has none. Then call hold_memory().
  bool take_some(std::size_t most) noexcept;
  // Maps what both ends write, and locks it if this process may. Takes milliseconds. Thread: any.
  void hold_memory() const noexcept;

  // ---- Both

  // Closes the channel. The peer may still read what was written. Wakes the threads that wait on either end.
  // Idempotent.
  void close() noexcept;
  // Returns false if a call has failed, or will fail, other than with would_block, timed_out or too_long.
  bool is_open() const noexcept;
  // Asks the kernel now whether the peer lives. For callers that neither read nor write. One system call.
  bool look_at_peer() noexcept;
  // Returns the socket, for callers that watch descriptors. It hangs up when the peer ends. Do not read it. Constant.
  int hang_up_descriptor() const noexcept;
  // Returns a descriptor that is readable once the peer's process has ended; -1: see sees_process().
  int process_descriptor() const noexcept;
  const Peer& peer() const noexcept;
  // Returns what Options::admit_after_hello returned; null: there was none.
  const std::shared_ptr<void>& attachment() const noexcept;
  std::uint64_t id() const noexcept;   // the same on both ends
  bool is_locked() const noexcept;     // Options::lock_memory was asked for and granted
  bool sees_process() const noexcept;  // see PeerWatch

 private:
  explicit Channel(std::shared_ptr<End> end) noexcept;
  std::shared_ptr<End> end_;
};

}  // namespace corelane::channel
