#include "bench/peers/bare/ring.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <stdexcept>
#include <system_error>

namespace peers::bare {
namespace {

void futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) {
  ::syscall(SYS_futex, &word, operation, value, nullptr, nullptr, 0);
}

constexpr int spins_before_yield = 1000;  // the consumer may need this core

void relax() { __builtin_ia32_pause(); }

RingPair& map_rings(const std::string& path, int flags) {
  const int fd = ::open(path.c_str(), flags | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0) throw std::system_error(errno, std::generic_category(), "open " + path);
  if ((flags & O_CREAT) != 0 && ::ftruncate(fd, sizeof(RingPair)) != 0)
    throw std::system_error(errno, std::generic_category(), "ftruncate");
  void* memory = ::mmap(nullptr, sizeof(RingPair), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
  ::close(fd);
  if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  return *static_cast<RingPair*>(memory);
}

}  // namespace

Waiting waiting_of(const std::string& kind) {
  if (kind == "spin") return Waiting::spin;
  if (kind == "futex") return Waiting::sleep;
  throw std::invalid_argument("--kind of a ring is spin or futex, not '" + kind + "'");
}

RingPair& create_rings(const std::string& path) { return *new (&map_rings(path, O_CREAT | O_EXCL)) RingPair; }

RingPair& open_rings(const std::string& path) { return map_rings(path, 0); }

void RingProducer::send(Octets head, Octets rest) {
  if (head.size() + rest.size() > slot_size) throw std::length_error("a message is longer than a slot of the ring");
  // PAIR peers.released: acquire here <- release in RingConsumer::receive(). The slot may be written again.
  for (int spins = 0; next_ - memory_.released.load(std::memory_order_acquire) == slot_count; ++spins)
    spins < spins_before_yield ? relax() : (void)::sched_yield();
  RingSlot& slot = memory_.slots[next_ % slot_count];
  slot.size = static_cast<std::uint32_t>(head.size() + rest.size());
  std::memcpy(slot.bytes, head.data(), head.size());
  if (!rest.empty()) std::memcpy(slot.bytes + head.size(), rest.data(), rest.size());
  ++next_;
  if (consumer_ == Waiting::spin) {
    // PAIR peers.published: release here -> acquire in RingConsumer::wait(). Publishes the slot.
    memory_.published.store(next_, std::memory_order_release);
    return;
  }
  // seq_cst: either this thread sees that the consumer sleeps, or the consumer sees the message before it sleeps.
  memory_.published.store(next_, std::memory_order_seq_cst);
  if (memory_.sleeping.load(std::memory_order_seq_cst) != 0) futex(memory_.published, FUTEX_WAKE, 1);
}

std::span<const std::uint8_t> RingConsumer::receive() {
  if (holds_slot_) {
    ++next_;
    // PAIR peers.released: release here -> acquire in RingProducer::send(). This side has read the slot.
    memory_.released.store(next_, std::memory_order_release);
  }
  wait();
  holds_slot_ = true;
  const RingSlot& slot = memory_.slots[next_ % slot_count];
  return {slot.bytes, std::min<std::size_t>(slot.size, slot_size)};
}

void RingConsumer::wait() {
  // PAIR peers.published: acquire here <- release in RingProducer::send().
  while (memory_.published.load(std::memory_order_acquire) == next_) {
    if (waiting_ == Waiting::spin) {
      relax();
      continue;
    }
    // seq_cst: see RingProducer::send().
    memory_.sleeping.store(1, std::memory_order_seq_cst);
    if (memory_.published.load(std::memory_order_seq_cst) == next_) futex(memory_.published, FUTEX_WAIT, next_);
    memory_.sleeping.store(0, std::memory_order_relaxed);  // relaxed: an unnecessary wake-up is harmless
  }
}

}  // namespace peers::bare
