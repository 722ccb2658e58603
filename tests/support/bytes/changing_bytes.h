// ChangingBytes is memory that a thread changes while the test reads it. A hostile process may do so with a message
// that is read in place: what a reader has checked has changed when it uses it. The bytes begin right after an
// inaccessible page, or end right before one, so that reading outside ends the program.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "orb/base/bytes.h"

namespace corelane::testing {

// Changes a random place, and mostly changes it back soon, so that readers get far. Thread: one, beside any reader.
class Changer {
 public:
  explicit Changer(std::uint64_t seed) noexcept : state_(seed * 2 + 1) {}

  // Changes a place in `size` bytes from `begin`.
  void change(std::byte* begin, std::size_t size) noexcept {
    if (size < sizeof(std::uint32_t)) return;
    const std::size_t at = draw() % (size - sizeof(std::uint32_t) + 1);
    const Word before = load(begin + at);
    const std::uint32_t number = suspicious();
    Word after = before;
    std::memcpy(after.data(), &number, 1 + draw() % sizeof number);
    store(begin + at, after);
    for (std::uint64_t turns = draw() % 256; turns != 0; --turns) std::atomic_signal_fence(std::memory_order_seq_cst);
    if (draw() % 8 != 0) store(begin + at, before);
  }

 private:
  using Word = std::array<std::byte, sizeof(std::uint32_t)>;

  std::uint64_t draw() noexcept {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return state_ >> 33;
  }
  std::uint32_t suspicious() noexcept {
    const auto small = static_cast<std::uint32_t>(draw() % 300);
    const std::uint32_t numbers[] = {0,           1,           small,       ~small,
                                     small << 24, 0x7fff'ffff, 0x8000'0000, static_cast<std::uint32_t>(draw())};
    return numbers[draw() % std::size(numbers)];
  }
  // relaxed: other threads read meanwhile, and may find anything
  static Word load(const std::byte* at) noexcept {
    Word word;
    for (std::size_t i = 0; i < word.size(); ++i)
      word[i] = std::atomic_ref(const_cast<std::byte&>(at[i])).load(std::memory_order_relaxed);
    return word;
  }
  static void store(std::byte* at, const Word& word) noexcept {
    for (std::size_t i = 0; i < word.size(); ++i) std::atomic_ref(at[i]).store(word[i], std::memory_order_relaxed);
  }

  std::uint64_t state_;
};

class ChangingBytes {
 public:
  explicit ChangingBytes(std::size_t capacity, std::uint64_t seed = 1)
      : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))),
        size_((std::max<std::size_t>(capacity, 1) + page_ - 1) / page_ * page_) {
    const int memory = memfd_create("changing-bytes", MFD_CLOEXEC);
    if (memory < 0 || ftruncate(memory, static_cast<off_t>(size_)) != 0) throw std::runtime_error("no shared memory");
    reserved_ = static_cast<std::byte*>(
        mmap(nullptr, size_ + 2 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    mmap(reserved_ + page_, size_, PROT_READ, MAP_SHARED | MAP_FIXED, memory, 0);
    written_ = static_cast<std::byte*>(mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0));
    close(memory);
    thread_ = std::jthread([this, seed](std::stop_token stop) { go_on(seed, stop); });
  }
  ~ChangingBytes() {
    thread_ = {};
    munmap(reserved_, size_ + 2 * page_);
    munmap(written_, size_);
  }
  ChangingBytes(const ChangingBytes&) = delete;
  ChangingBytes& operator=(const ChangingBytes&) = delete;

  // Replaces the content, up to the capacity. The new content changes from now on; the old one is gone.
  Bytes put(Bytes content) {
    at_the_end_ = !at_the_end_;
    const std::size_t at = at_the_end_ ? size_ - content.size() : 0;
    if (!content.empty()) std::memcpy(written_ + at, content.data(), content.size());
    // PAIR changing.place: release here -> acquire in go_on(). Nothing else depends on it.
    place_.store(std::uint64_t{at} << 32 | content.size(), std::memory_order_release);
    return {reserved_ + page_ + at, content.size()};
  }
  std::uint64_t changes() const noexcept { return changes_.load(std::memory_order_relaxed); }  // relaxed: a count

 private:
  void go_on(std::uint64_t seed, const std::stop_token& stop) noexcept {
    Changer changer(seed);
    while (!stop.stop_requested()) {
      // PAIR changing.place: acquire here <- release in put().
      const std::uint64_t place = place_.load(std::memory_order_acquire);
      changer.change(written_ + (place >> 32), place & 0xffff'ffff);
      changes_.fetch_add(1, std::memory_order_relaxed);  // relaxed: a count
    }
  }

  const std::size_t page_, size_;
  std::byte* reserved_ = nullptr;  // an inaccessible page, the readers' view, an inaccessible page
  std::byte* written_ = nullptr;   // the thread's view
  bool at_the_end_ = false;
  std::atomic<std::uint64_t> place_{0};
  std::atomic<std::uint64_t> changes_{0};
  std::jthread thread_;
};

}  // namespace corelane::testing
