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
      : slots_(slots), geometry_(geometry), reader_(&reader) {}

  // One record of all parts, `length` bytes together.
  Put put(RecordKind kind, std::span<const Bytes> parts, std::size_t length) noexcept {
    if (length > geometry_.longest_payload()) return Put::too_long;
    const std::uint64_t size = slots_for(length), rest = geometry_.to_end(next_);
    const std::uint64_t skipped = size > rest ? rest : 0;
    if (const Put room = ask_for(skipped + size); room != Put::done) return room;
    const std::uint64_t at = next_ + skipped, end = at + size;
    Slot& slot = slots_[geometry_.slot(at)];
    copy(slot, parts);
    forget(end);
    SharedWord(slot.kind).store(static_cast<std::uint64_t>(kind), std::memory_order_relaxed);  // relaxed: see publish()
    publish(at, length);
    if (skipped != 0) pad();
    next_ = end;
    return Put::done;
  }

  // Whether put() of so many bytes would not be `full`.
  bool has_room(std::size_t length) noexcept {
    const std::uint64_t size = slots_for(length), rest = geometry_.to_end(next_);
    return ask_for((size > rest ? rest : 0) + size) != Put::full;
  }

  // Behind the last record. A record that ended at a position may have been read when the reader's claim covers it.
  std::uint64_t position() const noexcept { return next_; }

 private:
  // relaxed: only this thread writes the ring; publish() orders what the reader may see
  Put ask_for(std::uint64_t size) noexcept {
    if (next_ + size < released_ + geometry_.capacity()) return Put::done;
    // PAIR ring.released: acquire here <- release in RingReader::pop(). The reader is done with those slots.
    const std::uint64_t released = load_shared(reader_->released, std::memory_order_acquire);
    if (released - released_ > next_ - released_) return Put::spoiled;
    released_ = released;
    return next_ + size < released_ + geometry_.capacity() ? Put::done : Put::full;
  }

  static void copy(Slot& slot, std::span<const Bytes> parts) noexcept {
    std::byte* to = slot.payload;  // goes on in the slots behind it
    for (const Bytes part : parts) {
      copy_to_shared(to, part.data(), part.size());
      to += part.size();
    }
  }

  void forget(std::uint64_t position) noexcept {
    const SharedWord<std::uint64_t> commit(slots_[geometry_.slot(position)].commit);
    // relaxed: only this thread writes it, and publish() comes before the reader looks there
    if (commit.load(std::memory_order_relaxed) >> 32 == geometry_.lap(position))
      commit.store(0, std::memory_order_relaxed);
  }

  void publish(std::uint64_t position, std::uint64_t length) noexcept {
    Slot& slot = slots_[geometry_.slot(position)];
    // PAIR ring.commit: release here -> acquire in RingReader::peek(). Publishes payload and kind, and forget()'s zero.
    SharedWord(slot.commit).store(std::uint64_t{geometry_.lap(position)} << 32 | length, std::memory_order_release);
  }

  // After the record that it leads to, so that the reader does not come to slot 0 too early.
  void pad() noexcept {
    const auto kind = static_cast<std::uint64_t>(RecordKind::padding);
    SharedWord(slots_[geometry_.slot(next_)].kind).store(kind, std::memory_order_relaxed);  // relaxed: see publish()
    publish(next_, 0);
  }

  Slot* slots_;
  RingGeometry geometry_;
  const Control* reader_;
  std::uint64_t next_ = 0;      // where the next record begins
  std::uint64_t released_ = 0;  // the reader's position as last seen
};

}  // namespace corelane::channel
