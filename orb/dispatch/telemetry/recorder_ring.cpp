#include "orb/dispatch/telemetry/recorder_ring.h"

#include <algorithm>
#include <bit>

namespace corelane::dispatch {

RecorderRing::RecorderRing(std::size_t slots)
    : mask_(std::bit_ceil(std::max(slots, least)) - 1), slots_(std::make_unique<Slot[]>(mask_ + 1)) {}

// A word's release orders the tag's zero before it. So a reader that loads the word (acquire) and then the tag sees
// that the slot was taken. On x86-64 all of these are plain moves.
void RecorderRing::write() noexcept {
  const std::span<const std::uint64_t> words = scratch_.span();
  last_ = Time{Duration{static_cast<std::int64_t>(words[0])}};
  std::size_t part = 0;
  for (std::size_t at = 0; at < words.size(); at += payload, ++part, ++next_) {  // bound: a record's slots
    Slot& slot = slots_[next_ & mask_];
    slot.tag.store(0, std::memory_order_relaxed);  // relaxed: ordered by the words that follow
    const std::size_t count = std::min(payload, words.size() - at);
    for (std::size_t i = 0; i < count; ++i)
      // PAIR recorder.word: release here -> acquire in read().
      slot.words[i].store(words[at + i], std::memory_order_release);
    // PAIR recorder.tag: release here -> acquire in read(). Publishes the words.
    slot.tag.store(tag_of(next_, part), std::memory_order_release);
  }
}

// Returns whether the slot still holds what was written at `position`.
bool RecorderRing::read(std::uint64_t position, std::uint64_t& found,
                        std::array<std::uint64_t, payload>& words) const noexcept {
  const Slot& slot = slots_[position & mask_];
  // PAIR recorder.tag: acquire here <- release in write().
  found = slot.tag.load(std::memory_order_acquire);
  // PAIR recorder.word: acquire here <- release in write().
  for (std::size_t i = 0; i < payload; ++i) words[i] = slot.words[i].load(std::memory_order_acquire);
  // relaxed: the words' acquires keep it behind them.
  return found >> 8 == position + 1 && slot.tag.load(std::memory_order_relaxed) == found;
}

RecorderRing::Copy RecorderRing::copy() const {
  Copy result;
  // PAIR recorder.head: acquire here <- release in publish().
  const std::uint64_t head = head_.load(std::memory_order_acquire);
  std::uint64_t position = head > mask_ ? head - mask_ - 1 : 0;
  result.lost = position;
  result.words.reserve((head - position) * payload);
  std::size_t left = 0;  // words of the record that are still to come
  for (; position < head; ++position) {
    std::uint64_t tag = 0;
    std::array<std::uint64_t, payload> words{};
    if (!read(position, tag, words)) {  // overwritten meanwhile, and all before it, too
      result.words.clear();
      left = 0;
      result.lost = position + 1;
      continue;
    }
    if ((tag & 0xff) == 0) {
      left = sched::TraceRecord::header_words + (words[1] >> 8);
    } else if (left == 0) {  // the rest of a record whose beginning is lost
      result.lost = position + 1;
      continue;
    }
    const std::size_t count = std::min(left, payload);
    result.words.insert(result.words.end(), words.begin(), words.begin() + static_cast<std::ptrdiff_t>(count));
    left -= count;
  }
  return result;
}

}  // namespace corelane::dispatch
