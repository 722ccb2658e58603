// ReadMode says who reads a connection: no thread, one thread in receive(), or the reactor for a watcher. Never two.
// Threads: any.
#pragma once

#include <atomic>
#include <cstdint>

namespace corelane::transport {

class ReadMode {
 public:
  // Return false if another thread reads already: a bug of the caller.
  bool begin_receiving() noexcept { return begin(Mode::receiving); }
  bool begin_watching() noexcept { return begin(Mode::watched); }
  void end() noexcept {
    // PAIR connection.mode: release here -> acquire in begin(). The next reader reads after this.
    mode_.store(Mode::free, std::memory_order_release);
  }

 private:
  enum class Mode : std::uint8_t { free, receiving, watched };

  bool begin(Mode mode) noexcept {
    Mode expected = Mode::free;
    // PAIR connection.mode: acquire here <- release in end(), where a reader leaves. relaxed on failure: this is a bug
    // of the caller, answered without touching the stream
    return mode_.compare_exchange_strong(expected, mode, std::memory_order_acquire, std::memory_order_relaxed);
  }

  std::atomic<Mode> mode_{Mode::free};
};

}  // namespace corelane::transport
