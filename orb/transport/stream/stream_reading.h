// StreamReading is what the reactor does for a connection: it reads for a watcher, reports the peer's end to a monitor,
// and ends the connection when nothing comes for too long.
//
// Invariant: what the reactor has to do follows from the observers, from paused_, from what waits to be sent and from
// whether the connection is open. Only update() works that out. A thread that changes one of them asks for an update.
// Threads: the reactor's, unless noted.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "orb/transport/connection.h"
#include "orb/transport/detail/link.h"
#include "orb/transport/detail/reactor_impl.h"
#include "orb/transport/stream/link_readiness.h"
#include "orb/transport/stream/read_mode.h"
#include "orb/transport/stream/stream_drain.h"
#include "orb/transport/stream/stream_observers.h"
#include "orb/transport/stream/stream_sender.h"
#include "orb/transport/stream/traffic_times.h"
#include "orb/transport/stream/turn_account.h"

namespace corelane::transport {

class StreamReading final : public ReadinessHandler, public StreamWork {
 public:
  // The parts are the connection's.
  StreamReading(Link& link, std::shared_ptr<Reactor::Impl> reactor, ReadMode& mode, TrafficTimes& times,
                StreamSender& sender, PeerId peer);
  // Call it once, before any other thread has the connection. `self`: this object; keeps the connection.
  void set_self(std::weak_ptr<ReadinessHandler> self) noexcept { self_ = std::move(self); }

  // See the functions of Connection with the same names. Thread: any, but pause() the reactor's.
  void watch(std::shared_ptr<Watcher> watcher);
  void unwatch();
  void pause() noexcept { paused_.store(true, std::memory_order_relaxed); }  // relaxed: only this thread reads it
  void resume() noexcept;
  void expect_by(Time deadline) noexcept;
  void set_monitor(std::weak_ptr<ConnectionMonitor> monitor);
  // Returns the account with the read budget.
  TurnAccount& account() noexcept { return account_; }
  // Returns the watcher that gets the bytes; null: none does.
  std::shared_ptr<Watcher> active_watcher() const noexcept { return active_watcher_; }
  // Returns whether a watched connection is idle, except for bytes that were not read yet.
  bool is_idle() const noexcept;

  void on_readable() noexcept override;
  void on_writable() noexcept override;
  void on_hang_up() noexcept override;
  void on_turn(ReadinessHandler::Turn turn) noexcept override;
  void on_stopping() noexcept override;

  void update() noexcept override;
  void drain() noexcept override { drain_.update(); }

 private:
  bool is_paused() const noexcept { return paused_.load(std::memory_order_relaxed); }  // relaxed: see resume()
  bool is_read() const noexcept { return active_watcher_ && sender_.is_open() && !is_paused(); }
  std::shared_ptr<ConnectionMonitor> monitor_of_open() const noexcept;
  bool watch_for_monitor();
  bool watch_descriptors(bool to_write);
  void check_for_end() noexcept;
  bool defer_read();
  void give_up(Error why) noexcept;
  void refused_by_system() noexcept;
  void release() noexcept;
  void finish() noexcept;
  void detach() noexcept;
  void update_timer();
  void on_timer() noexcept;
  void on_quiet(Time now);

  // Constant once set.
  Link& link_;
  const std::shared_ptr<Reactor::Impl> reactor_;
  ReadMode& mode_;
  TrafficTimes& times_;
  StreamSender& sender_;
  std::weak_ptr<ReadinessHandler> self_;

  // Shared.
  StreamObservers observers_;
  TurnAccount account_;
  std::atomic<bool> paused_{false};  // watched, but not read

  // Owner: the reactor's thread.
  LinkReadiness readiness_;
  std::shared_ptr<Watcher> active_watcher_;  // the one that gets the bytes
  bool read_waits_ = false;                  // readable, and deferred
  TimerId timer_{0};
  Time timer_at_ = never;

  StreamDrain drain_;  // owner: the thread that drains
};

}  // namespace corelane::transport
