// End holds the state and memory of one end of a channel. Channel is its handle. The channel and its loans share it,
// because the loans need its memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "orb/base/expected.h"
#include "orb/channel/bell.h"
#include "orb/channel/ends/setup.h"
#include "orb/channel/fault.h"
#include "orb/channel/memory/chunk_pool.h"
#include "orb/channel/memory/ring_reader.h"
#include "orb/channel/memory/ring_writer.h"
#include "orb/os/wait/adaptive_spin.h"

namespace corelane::channel {

// A message in the peer's chunks.
struct LoanedMessage {
  Bytes bytes;
  std::uint32_t first = 0;               // chunk
  std::optional<std::uint64_t> begin{};  // of a growing loan: GrowingNote::begin
};

// The message at the front of the peer's ring. The pointers lead to where the parts were written. Copying them into one
// struct would make the reader wait for its own stores.
struct Front {
  const Bytes* bytes = nullptr;         // null: there is none
  const LoanedMessage* loan = nullptr;  // null: it came inline
};

// One reason to wait.
struct Waiting {
  Sleeper sleeper;
  os::AdaptiveSpin learnt{};
};

class End {
 public:
  End(EndParts parts, const Options& options);

  // ---- Thread: the writer's.
  // Returns what RingWriter::put_short() returns, and wakes the reader.
  bool put_short(Bytes message) noexcept {
    if (!is_open() || !writer.put_short(message)) return false;
    peer_record_.ring();
    return true;
  }
  Expected<void, Fault> put(RecordKind kind, std::span<const Bytes> payload, std::size_t length) noexcept {
    const Put put = writer.put(kind, payload, length);
    if (put != Put::done) [[unlikely]]
      return fault_of(put);
    peer_record_.ring();
    return {};
  }
  // Returns whether there is room now for a message of that size.
  bool has_room(std::size_t length) noexcept;
  // Returns what prevents writing, if anything.
  std::optional<Fault> unwritable() noexcept;
  std::size_t inline_limit() const noexcept { return inline_limit_; }
  MutableBytes chunk(std::uint32_t first, std::size_t size) noexcept;
  // See the functions of Channel with the same names.
  bool may_begin_growing() const noexcept;
  Expected<void, Fault> begin_growing(Bytes head, Bytes tail) noexcept;
  void write_rest() noexcept;
  void end_growing() noexcept;
  bool is_growing() const noexcept {
    // PAIR end.growing: acquire here <- release in end_growing(). All of the message is written.
    return growing_.load(std::memory_order_acquire);
  }
  // Brings all of both regions into memory and locks them there, as far as the system allows it. Thread: any.
  void hold_memory() const noexcept;

  // ---- Thread: the reader's.
  // Returns what RingReader::take_short() returns, and wakes the writer. Returns nothing if there is a front().
  std::optional<std::size_t> take_short(MutableBytes buffer) noexcept {
    if (front_.bytes != nullptr || fate()) return std::nullopt;
    const auto size = reader_.take_short(buffer);
    if (size) peer_room_.ring();
    return size;
  }
  // Returns the front message. It is read and checked once, and stays the same until pop().
  Expected<const Front*, Fault> front() noexcept;
  // Sets whether front() returns growing loans before all of them is there.
  void set_takes_growing(bool takes) noexcept {
    takes_growing_ = takes;
    if (front_.loan != nullptr && front_.loan->begin) front_ = {};  // the next front() decides anew
  }
  // Returns false if front() would return would_block, or that the peer has ended. For callers that ask in a loop.
  bool shows_something(int looks = 1) const noexcept {
    return front_.bytes != nullptr || reader_.shows_something(looks);
  }
  // Gives the front message back. Does nothing if there is none.
  void pop() noexcept {
    if (front_.bytes == nullptr) return;
    if (front_.loan != nullptr) count_return(front_.loan->first);
    detach();
  }
  // Gives back the slots of the front message, but not its chunks.
  void detach() noexcept {
    front_ = {};
    reader_.pop();
    peer_room_.ring();
  }

  // ---- Thread: the one that waits.
  // `done` tries to get what the caller waits for. It is not called again after it returned true. `probe` is a cheap
  // check that tells whether anything came. While it returns false, a spinner calls `done` only now and then.
  template <typename Probe, typename Try>
  bool wait(Waiting& waiting, Time deadline, os::WaitStrategy strategy, Probe&& probe, Try&& done) noexcept;

  // ---- Thread: any.
  bool spins(os::WaitStrategy how) const noexcept {
    return how.mode == os::WaitMode::spin || parts.own_wake.kind == Wake::spin;
  }
  void give_back(std::uint32_t chunk) noexcept;
  // Returns how many bytes of the peer's message are there.
  std::size_t ready(const LoanedMessage& message) const noexcept;
  void look_at_peer() noexcept;
  // Make readable the descriptor that a thread watches: Sleeper::descriptor() of for_record, or of for_room with
  // Wake::eventfd.
  void make_readable() noexcept { own_record_.ring_descriptor(); }
  void make_room_readable() noexcept { own_room_.ring_descriptor(); }
  void close() noexcept;
  std::optional<Fault> fate() const noexcept {
    // PAIR end.fate: acquire here <- release in fail() and close().
    const std::uint8_t value = fate_.load(std::memory_order_acquire);
    return value == 0 ? std::nullopt : std::optional(static_cast<Fault>(value - 1));
  }
  std::uint64_t claimed() const noexcept { return claimed_by(peer()); }

  // Constant.
  EndParts parts;
  os::WaitStrategy strategy;
  bool locked = false;

 private:
  Control& own() const noexcept { return *reinterpret_cast<Control*>(parts.own.at(0)); }
  const Control& peer() const noexcept { return *reinterpret_cast<const Control*>(parts.peer.at(0)); }
  SleepPage& page() const noexcept { return *reinterpret_cast<SleepPage*>(parts.sleep.at(0)); }
  SleepPage::End& words(bool of_peer) const noexcept;
  // Returns whether the channel is open, as far as this end knows and the peer says.
  bool is_open() const noexcept {
    // PAIR end.state: acquire here <- release in close() of the peer.
    return !fate() && load_shared(peer().state, std::memory_order_acquire) == state_open;
  }
  Fault fail(Fault fault) noexcept;
  Fault fault_of(Put put) noexcept;
  void count_return(std::uint32_t chunk) noexcept;
  Expected<const Front*, Fault> front_in_chunks() noexcept;
  void write_piece() noexcept;

 public:
  // Owner: the writer.
  RingWriter writer;
  ChunkPool pool;
  Waiting for_room;
  // Owner: the reader.
  Waiting for_record;

 private:
  RingReader reader_;
  Front front_;
  LoanedMessage loaned_;  // valid if front_ points to it
  bool takes_growing_ = false;
  // The growing loan that this end writes. Owner: the thread that called begin_growing().
  struct Growing {
    std::byte* to = nullptr;
    Bytes rest{};  // not yet copied
    std::uint32_t first = 0;
  } grows_;
  std::uint64_t written_ = 0;  // the value of Control::written
  std::atomic<bool> growing_{false};
  // Constant.
  Ringer peer_record_, peer_room_, own_record_, own_room_;
  std::size_t inline_limit_;
  // Thread: any. 0: open; otherwise 1 + Fault. Set once, except that closing on this end replaces any other fault.
  std::atomic<std::uint8_t> fate_{0};
};

}  // namespace corelane::channel
