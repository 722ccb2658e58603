// RingWriter: puts records into the ring of its own region.
//
// Thread: one at a time. Nothing here blocks, allocates or calls the system.
// Invariant: the slot at the write position never carries its current lap before its record is complete. Payload of an
// earlier lap may have left any bytes there, so put() looks at the slot behind the record that it is about to publish,
// and clears it when it would be taken for a record. One slot therefore always stays free.
// If the writer dies, at whatever instruction, the reader sees whole records and then nothing: an incomplete one has
// no commit word. There is nothing to repair.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "orb/base/bytes.h"
#include "orb/channel/layout.h"

namespace corelane::channel {

enum class Put : std::uint8_t {
  done,
  full,      // no room; nothing was written
  too_long,  // it never fits
  spoiled,   // the reader's position is impossible
};

class RingWriter {
 public:
  // `slots` were zeros before either side used them; `reader` is the peer's control page. Both outlive the writer.
  RingWriter(Slot* slots, RingGeometry geometry, const Control& reader) noexcept
      : slots_(slots), geometry_(geometry), reader_(&reader), lap_(geometry.lap(0)), limit_(geometry.capacity()) {}

  // Puts a message of up to Slot::payload_size bytes if there is room as far as is known: the usual case of a small
  // message, without a call. False: nothing happened, and put() knows more.
  bool put_short(Bytes message) noexcept {
    // Copies: what is stored below could be these members, as far as the compiler knows.
    const std::uint64_t lap = lap_, end = next_ + 1, lap_behind = geometry_.lap_behind(lap, end);
    if (message.size() > Slot::payload_size || end >= limit_) return false;
    Slot& slot = slots_[geometry_.slot(next_)];
    forget(end, lap_behind);
    next_ = end;
    lap_ = lap_behind;
    copy_few_to_shared(slot.payload, message.data(), message.size());
    publish(slot, RecordKind::message, lap, message.size());
    return true;
  }

  // One record of all parts, `length` bytes together.
  Put put(RecordKind kind, std::span<const Bytes> parts, std::size_t length) noexcept {
    if (length > geometry_.longest_payload()) [[unlikely]]
      return Put::too_long;
    const std::uint64_t size = slots_for(length), rest = geometry_.to_end(next_);
    const std::uint64_t skipped = size > rest ? rest : 0, at = next_ + skipped, end = at + size;
    if (end >= limit_) [[unlikely]]
      if (const Put room = ask_for(end); room != Put::done) return room;
    const std::uint64_t lap = skipped == 0 ? lap_ : geometry_.lap_behind(lap_, at);
    const std::uint64_t lap_behind = geometry_.lap_behind(lap, end);
    forget(end, lap_behind);
    Slot& slot = slots_[geometry_.slot(at)];
    copy(slot, parts);
    publish(slot, kind, lap, length);
    if (skipped != 0) [[unlikely]]
      pad();
    next_ = end;
    lap_ = lap_behind;
    return Put::done;
  }

  // Whether put() of so many bytes would not be `full`.
  bool has_room(std::size_t length) noexcept {
    if (length > geometry_.longest_payload()) return true;  // it is too_long, however much is read
    const std::uint64_t size = slots_for(length), rest = geometry_.to_end(next_);
    const std::uint64_t end = next_ + (size > rest ? rest : 0) + size;
    return end < limit_ || ask_for(end) != Put::full;
  }

  // Behind the last record. A record that ended at a position may have been read when the reader's claim covers it.
  std::uint64_t position() const noexcept { return next_; }

 private:
  // Whether the reader has released enough by now for a record that ends there.
  Put ask_for(std::uint64_t end) noexcept {
    // PAIR ring.released: acquire here <- release in RingReader::release_to(). The reader is done with those slots.
    const std::uint64_t released = load_shared(reader_->released, std::memory_order_acquire);
    const std::uint64_t known = limit_ - geometry_.capacity();
    if (released - known > next_ - known) return Put::spoiled;
    limit_ = released + geometry_.capacity();
    return end < limit_ ? Put::done : Put::full;
  }

  static void copy(Slot& slot, std::span<const Bytes> parts) noexcept {
    std::byte* to = slot.payload;  // goes on in the slots behind it
    for (const Bytes part : parts) {
      copy_to_shared(to, part.data(), part.size());
      to += part.size();
    }
  }

  void forget(std::uint64_t position, std::uint64_t lap) noexcept {
    const SharedWord<std::uint64_t> commit(slots_[geometry_.slot(position)].commit);
    // relaxed: only this thread writes it, and publish() comes before the reader looks there
    if (commit.load(std::memory_order_relaxed) >> 32 == lap) [[unlikely]]
      commit.store(0, std::memory_order_relaxed);
  }

  static void publish(Slot& slot, RecordKind kind, std::uint64_t lap, std::uint64_t length) noexcept {
    // relaxed: the commit word orders it
    SharedWord(slot.kind).store(static_cast<std::uint64_t>(kind), std::memory_order_relaxed);
    // PAIR ring.commit: release here -> acquire in RingReader::peek(). Publishes payload and kind, and forget()'s zero.
    SharedWord(slot.commit).store(lap << 32 | length, std::memory_order_release);
  }

  // After the record that it leads to, so that the reader does not come to slot 0 too early.
  void pad() noexcept { publish(slots_[geometry_.slot(next_)], RecordKind::padding, lap_, 0); }

  Slot* slots_;
  RingGeometry geometry_;
  const Control* reader_;
  std::uint64_t next_ = 0;  // where the next record begins
  std::uint64_t lap_;       // there
  std::uint64_t limit_;     // a lap beyond the reader's position as last seen: a record ends before it
};

}  // namespace corelane::channel
