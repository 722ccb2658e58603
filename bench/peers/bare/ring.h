// The bare shared-memory peer: two rings of slots in one region, one for each direction, which carry the GIOP messages
// of frames.h. A reader spins, or sleeps in a futex.
//
// Threads: one producer and one consumer for each ring, in two processes.
// Layout of a ring: `published` and `released` count messages and lie on lines of their own; message n is in slot
// n % slot_count. `sleeping` is 1 while the consumer is in the kernel, or about to be.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "bench/peers/driver/caller.h"

namespace peers::bare {

inline constexpr std::size_t slot_count = 256, slot_size = 240;

struct RingSlot {
  std::uint32_t size;
  std::uint8_t bytes[slot_size];
};

struct RingMemory {
  alignas(128) std::atomic<std::uint32_t> published{0};  // by the producer; the consumer's futex
  alignas(128) std::atomic<std::uint32_t> released{0};   // by the consumer
  alignas(128) std::atomic<std::uint32_t> sleeping{0};
  alignas(128) RingSlot slots[slot_count];
};

struct RingPair {
  RingMemory requests, replies;
};

enum class Waiting { spin, sleep };
Waiting waiting_of(const std::string& kind);  // "spin" or "futex"; throws std::invalid_argument

// These throw std::system_error. The pair stays mapped until the process ends.
RingPair& create_rings(const std::string& path);
RingPair& open_rings(const std::string& path);

class RingProducer {
 public:
  RingProducer(RingMemory& memory, Waiting consumer) : memory_(memory), consumer_(consumer) {}

  // Spins while the ring is full, and yields the core after a while. Both parts together must fit into a slot.
  void send(Octets head, Octets rest);

 private:
  RingMemory& memory_;
  Waiting consumer_;
  std::uint32_t next_ = 0;
};

class RingConsumer {
 public:
  RingConsumer(RingMemory& memory, Waiting waiting) : memory_(memory), waiting_(waiting) {}

  // Returns the next message, valid until the next call.
  std::span<const std::uint8_t> receive();

 private:
  void wait();

  RingMemory& memory_;
  Waiting waiting_;
  std::uint32_t next_ = 0;
  bool holds_slot_ = false;
};

}  // namespace peers::bare
