// OnewayBatch: puts the oneways of one connection that one thread sends back to back into few sends. Over TCP a send
// costs several times as much as the rest of a oneway, above all where it wakes the server.
//
// A oneway that comes alone goes out at once. So do the first ones of a burst. Those that follow wait in the batch
// until it is full, or 20 us have passed, or the connection sends something else. Where the thread stops sending, the
// process's OnewayFlusher sends the rest, less than 100 us later.
//
// Only ordinary threads outside the jobs of tasks batch: nobody promises them a time, and the flusher is one of them.
//
// Threads: any. One thread at a time has the burst; oneways of others go past it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "orb/base/bytes.h"
#include "orb/base/expected.h"
#include "orb/base/time.h"
#include "orb/os/pi_mutex.h"
#include "orb/os/thread.h"
#include "orb/os/wait.h"
#include "orb/transport/connection.h"

namespace corelane::core {

class OnewayBatch : public std::enable_shared_from_this<OnewayBatch> {
 public:
  static constexpr int burst_from = 16;  // oneways in a row that go out at once
  static constexpr Duration close_together = std::chrono::microseconds{10};
  static constexpr Duration longest_wait = std::chrono::microseconds{20};
  static constexpr std::size_t longest_request = 2048;
  static constexpr std::size_t most_bytes = 16 * 1024;

  // Has look() called until the burst is over; false: nobody does. OnewayFlusher::watch(), except in tests.
  using Watch = bool (*)(std::shared_ptr<OnewayBatch>) noexcept;

  explicit OnewayBatch(std::shared_ptr<transport::Connection> stream);
  OnewayBatch(std::shared_ptr<transport::Connection> stream, Watch watch) : watch_(watch), stream_(std::move(stream)) {}

  // Takes a oneway of the calling thread into the batch, which has room for it by `deadline`. False: it is none of a
  // burst; the caller sends it, after flush(). Failed: it was not taken, and see flush().
  Expected<bool> take(std::span<const Bytes> request, Time deadline) noexcept { return take(request, deadline, now()); }
  // The same at that time, for tests.
  Expected<bool> take(std::span<const Bytes> request, Time deadline, Time now) noexcept;
  // Sends what the calling thread has in the batch, for something else to be sent behind it. Waits for room until the
  // deadline: TIMEOUT no_send_room, and all of it stays in the batch. After any other failure it is lost.
  Expected<void> flush(Time deadline) noexcept {
    // PAIR oneway_batch.filled: acquire here <- release in send_all(). The batch was sent before.
    return filled_.load(std::memory_order_acquire) ? flush_now(deadline) : Expected<void>{};
  }
  // Sends what is in the batch, as far as there is room by `deadline`, and takes nothing more.
  void end(Time deadline) noexcept;
  // Sends what has waited for long. When to call it again; never: the burst is over. Where there is no room for what
  // waits, the time to the next call doubles up to 10 ms, and a peer that takes nothing is given up as by a blocked
  // send. Thread: the flusher's.
  Time look(Time now) noexcept;

 private:
  static Time now() noexcept;
  static bool may_batch() noexcept;
  bool is_burst(Time now) noexcept;
  bool begin() noexcept;
  Expected<void> flush_now(Time deadline) noexcept;
  Expected<void> send_all(Time deadline) noexcept;
  Time look_later(Time now) noexcept;

  static constexpr Duration between_looks = std::chrono::microseconds{50};
  static constexpr Duration longest_pause = std::chrono::milliseconds{10};

  const Watch watch_;

  // How many oneways came close together. Hints: several threads may write them.
  std::atomic<Time> last_{};
  std::atomic<int> run_{0};
  std::atomic<bool> filled_{false};  // written with mutex_ held

  // The thread that has the burst keeps it while it waits for room. All others try it only.
  os::PiMutex mutex_;
  // Guarded by mutex_.
  std::shared_ptr<transport::Connection> stream_;  // null after end()
  std::atomic<const void*> owner_{nullptr};        // the thread that has the burst; it alone may ask without mutex_
  std::vector<std::byte> bytes_;
  Time since_{};  // when the oldest of them came

  std::atomic<bool> waits_for_room_{false};  // its thread does, and has mutex_ meanwhile
  Duration pause_ = between_looks;           // owner: the flusher
};

// OnewayFlusher: one ordinary thread of the process that sends the rest of bursts. It sleeps while there are none.
// Threads: any.
class OnewayFlusher {
 public:
  // Looks after the batch until its burst is over. False: there is no thread for it.
  static bool watch(std::shared_ptr<OnewayBatch> batch) noexcept { return instance().add(std::move(batch)); }

 private:
  OnewayFlusher() = default;
  static OnewayFlusher& instance() noexcept;
  bool add(std::shared_ptr<OnewayBatch> batch) noexcept;
  bool start();
  void run() noexcept;
  Time look() noexcept;
  void finish() noexcept;
  static void at_exit() noexcept;

  os::Parker parker_;
  os::PiMutex mutex_;
  // Guarded by mutex_.
  std::vector<std::shared_ptr<OnewayBatch>> watched_;
  os::Thread thread_;
  bool ended_ = false;  // the process ends: no more bursts
};

}  // namespace corelane::core
