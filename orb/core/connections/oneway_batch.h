// OnewayBatch combines the oneways that one thread sends over a connection in quick succession into few sends. Over TCP
// a send costs several times as much as the rest of a oneway, above all if it wakes the server.
//
// A oneway that comes alone is sent at once. So are the first ones of a burst. The following ones wait in the batch
// until it is full, or 20 us have passed, or the connection sends something else. If the thread stops sending, the
// process's OnewayFlusher sends the rest, less than 100 us later.
//
// Only ordinary threads outside the jobs of tasks batch. They have no guaranteed response time, and the flusher is an
// ordinary thread, too.
//
// Threads: any. One thread at a time owns the burst; oneways of other threads bypass the batch.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "orb/base/agent.h"
#include "orb/base/bytes.h"
#include "orb/base/expected.h"
#include "orb/base/thread_safety.h"
#include "orb/base/time.h"
#include "orb/os/pi_mutex.h"
#include "orb/os/wait/agent_thread.h"
#include "orb/os/wait/wait.h"
#include "orb/transport/connection.h"

namespace corelane::core {

class OnewayBatch : public std::enable_shared_from_this<OnewayBatch> {
 public:
  static constexpr int burst_from = 16;  // oneways in a row that go out at once
  static constexpr Duration close_together = std::chrono::microseconds{10};
  static constexpr Duration longest_wait = std::chrono::microseconds{20};
  static constexpr std::size_t longest_request = 2048;
  static constexpr std::size_t most_bytes = 16 * 1024;

  // Arranges that look() is called until the burst is over; returns false if it cannot. It is OnewayFlusher::watch(),
  // except in tests.
  using Watch = bool (*)(std::shared_ptr<OnewayBatch>) noexcept;

  explicit OnewayBatch(std::shared_ptr<transport::Connection> stream);
  OnewayBatch(std::shared_ptr<transport::Connection> stream, Watch watch) : watch_(watch), stream_(std::move(stream)) {}

  // Puts a oneway of the calling thread into the batch, and waits for room until `deadline`. Returns false if the
  // oneway belongs to no burst: the caller sends it, after flush(). Returns an error if the oneway was not taken; the
  // error is as in flush().
  Expected<bool> take(std::span<const Bytes> request, Time deadline) noexcept { return take(request, deadline, now()); }
  // Does the same at time `now`. For tests.
  Expected<bool> take(std::span<const Bytes> request, Time deadline, Time now) noexcept;
  // Sends what the calling thread has in the batch, so that something else can be sent after it. Waits for room until
  // the deadline. After TIMEOUT no_send_room all of it stays in the batch. After any other failure it is lost.
  Expected<void> flush(Time deadline) noexcept {
    // PAIR oneway_batch.filled: acquire here <- release in send_all(). The batch was sent before.
    return filled_.load(std::memory_order_acquire) ? flush_now(deadline) : Expected<void>{};
  }
  // Sends what is in the batch if there is room by `deadline`, and takes nothing more.
  void end(Time deadline) noexcept;
  // Sends what has waited for long. Returns when to call it again; never: the burst is over. While there is no room,
  // the time to the next call doubles, up to 10 ms. A peer that takes nothing is given up, as by a blocked send.
  // Thread: the flusher's.
  Time look(Time now) noexcept;

 private:
  static Time now() noexcept;
  static bool may_batch() noexcept;
  bool is_burst(Time now) noexcept;
  bool begin() noexcept;
  Expected<void> flush_now(Time deadline) noexcept;
  Expected<void> send_all(Time deadline) noexcept CORELANE_REQUIRES(mutex_);
  Time look_later(Time now) noexcept;

  static constexpr Duration between_looks = std::chrono::microseconds{50};
  static constexpr Duration longest_pause = std::chrono::milliseconds{10};

  const Watch watch_;

  // How many oneways came close together. Hints: several threads may write them.
  std::atomic<Time> last_{};
  std::atomic<int> run_{0};
  std::atomic<bool> filled_{false};  // written with mutex_ held

  // The thread that owns the burst holds it while it waits for room. All others only try to lock it.
  os::PiMutex mutex_;
  std::shared_ptr<transport::Connection> stream_ CORELANE_GUARDED_BY(mutex_);  // null after end()
  std::atomic<const void*> owner_{nullptr};  // written with mutex_ held: the thread that owns the burst
  std::vector<std::byte> bytes_ CORELANE_GUARDED_BY(mutex_);
  Time since_ CORELANE_GUARDED_BY(mutex_){};  // when the oldest of them came

  std::atomic<bool> waits_for_room_{false};  // the owner waits for room, and holds mutex_
  Duration pause_ = between_looks;           // owner: the flusher
};

// OnewayFlusher is an agent of the process, with an ordinary thread, that sends the rest of bursts. It sleeps while
// there are none. The thread starts with the first burst, and ends with the process. A child of fork() has a flusher of
// its own, which watches nothing at first. Threads: any.
class OnewayFlusher final : public Agent {
 public:
  // Calls look() of the batch until its burst is over. Returns false if there is no thread for it.
  static bool watch(std::shared_ptr<OnewayBatch> batch) noexcept { return instance().add(std::move(batch)); }

  bool step(Time now) noexcept override;
  Time wake_at() const noexcept { return wake_at_; }
  os::Parker& parker() noexcept { return parker_; }

 private:
  OnewayFlusher() = default;
  static OnewayFlusher& make() noexcept;
  static OnewayFlusher& instance() noexcept;
  bool add(std::shared_ptr<OnewayBatch> batch) noexcept;
  void finish() noexcept;

  os::Parker parker_;
  Time wake_at_ = never;  // owner: the thread
  os::PiMutex mutex_;
  std::vector<std::shared_ptr<OnewayBatch>> watched_ CORELANE_GUARDED_BY(mutex_);
  bool ended_ CORELANE_GUARDED_BY(mutex_) = false;  // the process ends: no more bursts
  os::AgentThread<OnewayFlusher> thread_ CORELANE_GUARDED_BY(mutex_){*this};
};

}  // namespace corelane::core
