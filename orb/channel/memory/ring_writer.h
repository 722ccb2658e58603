// RingWriter puts records into the ring of its own region.
//
// Thread: one at a time. Nothing here blocks, allocates or makes system calls.
// Invariant: the slot at the write position never has its current lap before its record is complete. Payload of an
// earlier lap may have left any bytes there. So put() checks the slot after the record that it is about to publish, and
// clears it if it would be taken for a record. Therefore one slot always stays free.
// If the writer dies, at whatever instruction, the reader sees whole records and then nothing. An incomplete record has
// no commit word, so there is nothing to repair.
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
  // `slots` held zeros before either side used them. `reader` is the peer's control page. Both outlive the writer.
  RingWriter(Slot* slots, RingGeometry geometry, const Control& reader) noexcept
      : slots_(slots), geometry_(geometry), reader_(&reader), lap_(geometry.lap(0)), limit_(geometry.capacity()) {}

  // Puts a message of up to Slot::payload_size bytes if the writer already knows of room. This is the usual case of a
  // small message, and makes no call. If it returns false, nothing has happened, and put() tells more.
  bool put_short(Bytes message) noexcept {
    // Copies, because the compiler must assume that the stores below change these members.
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

  // Puts one record that consists of all parts, `length` bytes together.
  [[gnu::hot]] Put put(RecordKind kind, std::span<const Bytes> parts, std::size_t length) noexcept {
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

  // Returns whether put() of so many bytes would not return `full`.
  bool has_room(std::size_t length) noexcept {
    if (length > geometry_.longest_payload()) return true;  // it is too_long, however much the peer reads
    const std::uint64_t size = slots_for(length), rest = geometry_.to_end(next_);
    const std::uint64_t end = next_ + (size > rest ? rest : 0) + size;
    return end < limit_ || ask_for(end) != Put::full;
  }

  // Returns the position after the last record. A record that ended at a position may have been read if the reader's
  // claim covers that position.
  std::uint64_t position() const noexcept { return next_; }

 private:
  // Checks whether the reader has released enough by now for a record that ends there.
  Put ask_for(std::uint64_t end) noexcept {
    // PAIR ring.released: acquire here <- release in RingReader::release_to(). The reader is done with those slots.
    const std::uint64_t released = load_shared(reader_->released, std::memory_order_acquire);
    const std::uint64_t known = limit_ - geometry_.capacity();
    if (released - known > next_ - known) return Put::spoiled;
    limit_ = released + geometry_.capacity();
    return end < limit_ ? Put::done : Put::full;
  }

  static void copy(Slot& slot, std::span<const Bytes> parts) noexcept {
    std::byte* to = slot.payload;  // continues in the slots after it
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

  // Puts padding after the record that it leads to is published, so that the reader does not come to slot 0 too early.
  void pad() noexcept { publish(slots_[geometry_.slot(next_)], RecordKind::padding, lap_, 0); }

  Slot* slots_;
  RingGeometry geometry_;
  const Control* reader_;
  std::uint64_t next_ = 0;  // where the next record begins
  std::uint64_t lap_;       // the lap at next_
  std::uint64_t limit_;     // one lap after the reader's position as last read; a record ends before it
};

}  // namespace corelane::channel
