// RingReader takes records from the ring of the peer's region, which may hold anything at all.
//
// Thread: one at a time. Nothing here blocks, allocates or makes system calls.
// It reads each header once and checks it before use. The payload stays in place and may change at any time: copy what
// you have to check before you check it.
// If the reader dies, its two positions tell the writer what it cannot have read; see `claimed` in layout.h.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "orb/base/bytes.h"
#include "orb/channel/layout.h"
#include "orb/os/wait/wait.h"

namespace corelane::channel {

struct Record {
  RecordKind kind = RecordKind::message;  // message, loan or growing
  Bytes payload;                          // of a loan: the note
};

enum class Look : std::uint8_t {
  record,
  empty,
  spoiled,  // impossible lengths or kinds; permanent
};

class RingReader {
 public:
  // `slots` are the peer's, `own` is this end's control page. Both outlive the reader.
  RingReader(const Slot* slots, RingGeometry geometry, Control& own) noexcept
      : slots_(slots), geometry_(geometry), own_(&own), lap_(geometry.lap(0)) {}

  // Looks at the oldest record, the same one until pop().
  Look peek() noexcept {
    if (size_ != 0) return Look::record;
    for (int turn = 0; turn < 2; ++turn) {  // padding, then a record
      const Slot& slot = slots_[geometry_.slot(next_)];
      // PAIR ring.commit: acquire here <- release in RingWriter::publish().
      const std::uint64_t commit = load_shared(slot.commit, std::memory_order_acquire);
      if (commit >> 32 != lap_) return Look::empty;
      // relaxed: ordered by the commit word
      const auto kind = static_cast<RecordKind>(load_shared(slot.kind, std::memory_order_relaxed));
      if (kind != RecordKind::padding) return take(slot, kind, commit & 0xffff'ffff);
      go_on(geometry_.to_end(next_));
    }
    return Look::spoiled;
  }

  // Copies out and pops the next record if it is a message of up to Slot::payload_size bytes that fits into `buffer`.
  // This is the usual case of a small message, and makes no call. Returns its size. If it returns nothing, nothing has
  // happened, and peek() tells more.
  std::optional<std::size_t> take_short(MutableBytes buffer) noexcept {
    if (size_ != 0) return std::nullopt;
    const Slot& slot = slots_[geometry_.slot(next_)];
    // PAIR ring.commit: acquire here <- release in RingWriter::publish().
    const std::uint64_t commit = load_shared(slot.commit, std::memory_order_acquire), length = commit & 0xffff'ffff;
    if (commit >> 32 != lap_ || length > Slot::payload_size || length > buffer.size()) return std::nullopt;
    // relaxed: ordered by the commit word
    const std::uint64_t kind = load_shared(slot.kind, std::memory_order_relaxed);
    if (kind != static_cast<std::uint64_t>(RecordKind::message)) return std::nullopt;
    const std::uint64_t end = next_ + 1;
    claim_to(end);
    go_on(1);
    copy_few_bytes(buffer.data(), slot.payload, length);
    release_to(end);
    return length;
  }

  // Returns whether peek() would find a record, or padding before one. Makes up to so many single loads, with a pause
  // between two. For callers that ask in a loop.
  bool shows_something(int looks = 1) const noexcept {
    const std::uint64_t& commit = slots_[geometry_.slot(next_)].commit;
    // relaxed: peek() loads it again
    while (load_shared(commit, std::memory_order_relaxed) >> 32 != lap_) {
      if (--looks <= 0) return false;
      os::spin_pause();
    }
    return true;
  }

  // Returns the record after peek() returned `record`. Valid until pop().
  const Record& front() const noexcept { return front_; }

  // Gives the front record's slots back to the writer.
  void pop() noexcept {
    go_on(size_);
    size_ = 0;
    release_to(next_);
  }

 private:
  void claim_to(std::uint64_t position) noexcept {
    // PAIR ring.claimed: release here -> acquire in claimed_by(). Before anybody acts on the record.
    SharedWord(own_->claimed).store(position, std::memory_order_release);
  }

  void release_to(std::uint64_t position) noexcept {
    // PAIR ring.released: release here -> acquire in RingWriter::ask_for(). This side's reads of the slots are over.
    SharedWord(own_->released).store(position, std::memory_order_release);
  }

  void go_on(std::uint64_t size) noexcept {
    next_ += size;
    lap_ = geometry_.lap_behind(lap_, next_);
  }

  static bool is_note(RecordKind kind, std::uint64_t length) noexcept {
    return kind == RecordKind::loan ? length == sizeof(LoanNote)
                                    : kind == RecordKind::growing && length == sizeof(GrowingNote);
  }

  Look take(const Slot& slot, RecordKind kind, std::uint64_t length) noexcept {
    const std::uint64_t size = slots_for(length);
    if (size > geometry_.longest() || size > geometry_.to_end(next_)) [[unlikely]]
      return Look::spoiled;
    if (kind != RecordKind::message && !is_note(kind, length)) return Look::spoiled;
    front_ = {kind, {slot.payload, length}};
    size_ = size;
    claim_to(next_ + size);
    return Look::record;
  }

  const Slot* slots_;
  RingGeometry geometry_;
  Control* own_;
  std::uint64_t next_ = 0;  // where the front record begins, or will begin
  std::uint64_t lap_;       // the lap at next_
  std::uint64_t size_ = 0;  // slots of the front record; 0: there is none
  Record front_;
};

// Returns the position up to which the reader may have acted on records. `reader` is its control page.
inline std::uint64_t claimed_by(const Control& reader) noexcept {
  // PAIR ring.claimed: acquire here <- release in RingReader::claim_to().
  return load_shared(reader.claimed, std::memory_order_acquire);
}

}  // namespace corelane::channel
