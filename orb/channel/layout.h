// Control, Slot and SleepPage are the memory layout of a channel, which is an ABI. docs/channel.md describes it for
// programmers who write the other end in another language. abi_version changes with it.
//
// Each end owns one region, and only that end writes it. The region holds the end's messages, how far the end has read
// the other's messages, and which of the other's chunks it has given back. A third, small page holds the sleep words,
// which both ends write. Integers are in host byte order. Positions count slots from 0 and never wrap. Offsets replace
// pointers.
//
// Threads: none; constants and values.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "orb/channel/shared_word.h"

namespace corelane::channel {

inline constexpr std::uint16_t abi_version = 1;
inline constexpr std::size_t page_size = 4096;
inline constexpr std::size_t slot_size = 64;
inline constexpr std::uint32_t most_chunks = 1024;

// The size of an end's region, as the end announces it at set-up.
struct Shape {
  std::uint32_t slots = 4096;             // of 64 B each, for messages and notes of loans; a power of two, 64 to 2^20
  std::uint32_t chunks = 64;              // of memory for large messages; 0 to 1024
  std::uint32_t chunk_size = 128 * 1024;  // bytes, a multiple of the page; at most 1 GiB

  friend bool operator==(const Shape&, const Shape&) = default;
};

constexpr bool is_valid(const Shape& shape) noexcept {
  return std::has_single_bit(shape.slots) && shape.slots >= 64 && shape.slots <= (1u << 20) &&
         shape.chunks <= most_chunks && shape.chunk_size % page_size == 0 && shape.chunk_size <= (1u << 30) &&
         (shape.chunks == 0 || shape.chunk_size != 0);
}

// The kind of a record. Other values are refused: the peer has a bug.
enum class RecordKind : std::uint64_t {
  message = 1,  // the payload is the message
  loan = 2,     // the payload is a LoanNote
  padding = 3,  // nothing; the next record begins at slot 0
  growing = 4,  // the payload is a GrowingNote
};

// One slot, which is also the beginning of each record. A record of more than 48 B continues in the slots after it,
// which are all payload. It never continues beyond the last slot of the ring.
//   0   commit   (lap << 32) | length of the payload. The record is there if and only if the lap is the current one.
//   8   kind     RecordKind
//   16  payload
struct Slot {
  static constexpr std::size_t payload_size = 48;
  std::uint64_t commit;
  std::uint64_t kind;
  std::byte payload[payload_size];
};
static_assert(sizeof(Slot) == slot_size && offsetof(Slot, kind) == 8 && offsetof(Slot, payload) == 16);

// The payload of a loan's record. The message's bytes are in these chunks, one after the other.
struct LoanNote {
  std::uint64_t first;   // index of the first chunk
  std::uint64_t length;  // bytes
};
static_assert(sizeof(LoanNote) == 16);

// The payload of a growing loan's record. The writer still copies the message when the record comes. The first
// (Control::written - begin) bytes are there.
struct GrowingNote {
  std::uint64_t first;   // index of the first chunk
  std::uint64_t length;  // bytes; at least least_growing
  std::uint64_t begin;   // the writer's Control::written at which the message begins
};
static_assert(sizeof(GrowingNote) == 24);

inline constexpr std::size_t least_growing = 2 * growing_piece;  // bytes of the shortest growing loan: 128 KiB

// The first two pages of a region. Only the region's owner writes them.
//   0     released   u64          the position up to which it has released the peer's slots
//   8     claimed    u64          the position up to which it has looked at the peer's records
//   128   state      u32          0: open; 1: it has closed the channel in good order, after its last record
//   256   written    u64          bytes of all its growing loans that it has written, one after the other
//   4096  returned   u32[1024]    for each of the peer's chunks, how often a loan that begins there was given
//                                  back; wraps
struct Control {
  std::uint64_t released;
  std::uint64_t claimed;
  std::byte spare0[no_share - 16];
  std::uint32_t state;
  std::byte spare1[no_share - 4];
  std::uint64_t written;
  std::byte spare2[page_size - 2 * no_share - 8];
  std::uint32_t returned[most_chunks];
};
static_assert(offsetof(Control, claimed) == 8 && offsetof(Control, state) == 128 && offsetof(Control, written) == 256 &&
              offsetof(Control, returned) == page_size && sizeof(Control) == 2 * page_size);

inline constexpr std::uint32_t state_open = 0, state_closed = 1;

// The slots follow the control pages, and the chunks follow the slots.
constexpr std::size_t slots_offset() noexcept { return sizeof(Control); }
constexpr std::size_t chunks_offset(const Shape& shape) noexcept {
  return slots_offset() + std::size_t{shape.slots} * slot_size;
}
constexpr std::size_t region_size(const Shape& shape) noexcept {
  return chunks_offset(shape) + std::size_t{shape.chunks} * shape.chunk_size;
}

// The sleep words, one for each reason to sleep. 0: no thread sleeps. With Wake::signal it is the number of the thread
// that sleeps or is about to, in the pid namespace of its process. Otherwise it is some_thread of bell.h. End 0 is the
// connector.
//   0 and 256    end 0 and end 1: waits for a record
//   128 and 384  end 0 and end 1: waits for room
struct SleepPage {
  struct alignas(no_share) Word {
    std::uint32_t sleeper;
  };
  struct End {
    Word record;
    Word room;
  };
  End ends[2];
  std::byte spare[page_size - 4 * no_share];
};
static_assert(sizeof(SleepPage) == page_size && sizeof(SleepPage::End) == 256);

// RingGeometry converts a position to a slot and a lap. A lap is never 0, so that a region of zeros holds no record.
// After 2^32 - 1 comes 1.
class RingGeometry {
 public:
  explicit constexpr RingGeometry(std::uint32_t slots) noexcept : slots_(slots), shift_(std::countr_zero(slots)) {}

  constexpr std::uint64_t capacity() const noexcept { return slots_; }
  constexpr std::uint64_t slot(std::uint64_t position) const noexcept { return position & (slots_ - 1); }
  constexpr std::uint32_t lap(std::uint64_t position) const noexcept {
    const std::uint64_t turns = position >> shift_;
    return 1 + static_cast<std::uint32_t>(turns < 0xffff'ffff ? turns : turns % 0xffff'ffff);  // avoids a division
  }
  // Returns the lap of a position at the end of a record, given the lap of its beginning. Avoids the shift.
  constexpr std::uint64_t lap_behind(std::uint64_t lap, std::uint64_t end) const noexcept {
    return slot(end) != 0 ? lap : lap == 0xffff'ffff ? 1 : lap + 1;
  }
  constexpr std::uint64_t to_end(std::uint64_t position) const noexcept { return slots_ - slot(position); }
  // Returns the slots of the longest record. It fits into an empty ring wherever it begins.
  constexpr std::uint64_t longest() const noexcept { return slots_ / 2; }
  constexpr std::uint64_t longest_payload() const noexcept { return longest() * slot_size - 16; }

 private:
  std::uint64_t slots_;
  int shift_;
};

// Returns the slots that a record with so many bytes of payload takes.
constexpr std::uint64_t slots_for(std::uint64_t length) noexcept {
  return length <= Slot::payload_size ? 1 : (length + 16 + slot_size - 1) / slot_size;
}

}  // namespace corelane::channel
