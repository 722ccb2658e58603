// Makes random garbage for the memory of a channel that a hostile peer can write: its own region and the sleep page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

#include "orb/channel/layout.h"

namespace corelane::testing {

using Random = std::mt19937_64;

// Returns numbers that such words might hold, or almost hold.
inline std::uint64_t suspicious_number(Random& random) {
  const std::uint64_t small_one = random() % 70, length = random() % 3 == 0 ? random() : random() % 5000;
  switch (random() % 6) {
    case 0:
      return random();
    case 1:
      return small_one;
    case 2:
      return ~small_one;
    case 3:
      return std::uint64_t{1} << random() % 64;
    default:
      return (1 + random() % 3) << 32 | (length & 0xffff'ffff);  // a commit word
  }
}

struct Garbage {
  std::size_t offset;
  std::uint64_t word;
};

// The words that the ABI names (docs/channel.md): first those of a region, then those of the sleep page.
enum class Target : std::uint8_t {
  released,
  claimed,
  state,
  written,
  returned,
  commit,
  kind,
  payload,
  chunk,
  connector_record,
  connector_room,
  acceptor_record,
  acceptor_room,
  anything,  // anywhere in that memory
};

constexpr bool is_of_sleep_page(Target target) noexcept {
  return target >= Target::connector_record && target <= Target::acceptor_room;
}

// Returns garbage for such a word in memory of `size` bytes: a region with `slots` slots, or the sleep page.
inline Garbage garbage_at(Random& random, Target target, std::size_t size, std::size_t slots) {
  using namespace channel;
  const auto within = [&](std::size_t begin, std::size_t end) {
    return end > begin && end <= size ? begin + random() % (end - begin) / 8 * 8 : 0;
  };
  const auto in_slot = [&](std::size_t part) { return slots_offset() + random() % slots * slot_size + part; };
  const auto offset = [&]() -> std::size_t {
    switch (target) {
      case Target::released:
        return offsetof(Control, released);
      case Target::claimed:
        return offsetof(Control, claimed);
      case Target::state:
        return offsetof(Control, state);
      case Target::written:
        return offsetof(Control, written);
      case Target::returned:  // mostly those of the first chunks, which every region has
        return within(page_size, random() % 2 == 0 ? page_size + 16 : 2 * page_size);
      case Target::commit:
        return in_slot(offsetof(Slot, commit));
      case Target::kind:
        return in_slot(offsetof(Slot, kind));
      case Target::payload:  // mostly its beginning, which may be a note of a loan
        return in_slot(offsetof(Slot, payload) + random() % (random() % 2 == 0 ? 2 : 6) * 8);
      case Target::chunk:
        return within(slots_offset() + slots * slot_size, size);
      case Target::connector_record:
      case Target::connector_room:
      case Target::acceptor_record:
      case Target::acceptor_room:
        return (static_cast<std::size_t>(target) - static_cast<std::size_t>(Target::connector_record)) * no_share;
      case Target::anything:
        break;
    }
    return within(0, size);
  }();
  return {offset + 8 > size ? 0 : offset, suspicious_number(random)};
}

// Chooses one of the words in memory of `size` bytes. A state ends the channel at once, so it is chosen less often.
inline Target target_in(Random& random, std::size_t size) {
  const bool is_page = size == channel::page_size;
  const std::uint64_t first = static_cast<std::uint64_t>(is_page ? Target::connector_record : Target::released);
  const auto target = static_cast<Target>(first + random() % (is_page ? 5 : 9));  // one more: anything
  const bool is_other = (!is_page && is_of_sleep_page(target)) || (target == Target::state && random() % 4 != 0);
  return is_other ? Target::anything : target;
}

// Returns the same where the number of slots is not known.
inline Garbage garbage_for(Random& random, std::size_t size) {
  const bool is_page = size <= channel::slots_offset();
  const std::size_t slots = random() % 2 == 0 || is_page ? 64 : (size - channel::slots_offset()) / channel::slot_size;
  return garbage_at(random, target_in(random, size), size, slots);
}

}  // namespace corelane::testing
