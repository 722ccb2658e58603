// PooledConnection is a connection of another transport whose watcher runs on threads of the pool.
//
// Threads: as Connection says, with the pool's threads in place of the reactor's.
// Invariants: the connection below is never watched, so receive() may be called on it at any time. A Watch belongs to
// one watch() and ends once, by its watcher's on_closed() or by unwatch(). Time-outs run on the reactor and close the
// connection below, which makes its descriptor readable. Then the pool sees the end and tells the watcher.
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "orb/base/thread_safety.h"
#include "orb/leader_followers/thread_pool.h"
#include "orb/os/pi_mutex.h"
#include "orb/transport/connection.h"
#include "orb/transport/reactor.h"
#include "orb/transport/transport.h"

namespace corelane::leader_followers {

class PooledConnection final : public transport::Connection,
                               public transport::ConnectionMonitor,
                               public std::enable_shared_from_this<PooledConnection> {
 public:
  PooledConnection(std::shared_ptr<transport::Connection> below, std::shared_ptr<ThreadPool> pool,
                   transport::Reactor& reactor, const transport::ConnectionLimits& limits);

  Expected<std::size_t> receive(MutableBytes buffer, Time deadline, os::WaitStrategy strategy) noexcept override {
    return below_->receive(buffer, deadline, strategy);
  }
  Expected<transport::Arrival> take(MutableBytes buffer) noexcept override { return below_->take(buffer); }
  using Connection::send;
  Expected<void> send(std::span<const Bytes> parts) noexcept override;
  Expected<void> send_by(Time until, std::span<const Bytes> parts, std::uint64_t& position) noexcept override;
  Expected<void> send_if_room(Time rest_until, std::span<const Bytes> parts, std::uint64_t& position) noexcept override;
  std::unique_ptr<transport::ReservedSendBuffer> send_buffer(std::size_t bytes) noexcept override {
    return below_->send_buffer(bytes);
  }
  Loans loans() const noexcept override { return below_->loans(); }
  void watch(std::shared_ptr<transport::Watcher> watcher) override;
  void unwatch() override;
  void pause_reading() noexcept override;
  void resume_reading() noexcept override;
  void expect_by(Time deadline) noexcept override;
  void renew() noexcept override;
  void close_if_stalled(Time since) noexcept override { below_->close_if_stalled(since); }
  PeerEnd peer_end() const noexcept override { return below_->peer_end(); }
  bool has_unread() noexcept override { return below_->has_unread(); }
  void arm_descriptor() noexcept override { below_->arm_descriptor(); }
  int hang_up_descriptor() const noexcept override { return below_->hang_up_descriptor(); }
  // Called while reading is paused.
  void on_peer_end() noexcept override;
  void on_idle() noexcept override {}
  void close() noexcept override { below_->close(); }
  void close_when_sent(Time deadline) noexcept override { below_->close_when_sent(deadline); }
  bool wait_until_closed(Time deadline) noexcept override { return below_->wait_until_closed(deadline); }
  bool is_open() const noexcept override { return below_->is_open(); }
  const transport::Endpoint& local() const noexcept override { return below_->local(); }
  const transport::Endpoint& peer() const noexcept override { return below_->peer(); }
  int descriptor() const noexcept override { return below_->descriptor(); }
  std::optional<transport::PeerCredentials> credentials() const noexcept override { return below_->credentials(); }
  std::vector<gid_t> groups() const override { return below_->groups(); }
  PeerId id() const noexcept override { return below_->id(); }
  std::shared_ptr<transport::MemoryAccount> memory() const noexcept override { return below_->memory(); }

 private:
  class Watch;

  void read(Watch& watch);
  void read_on(std::shared_ptr<transport::Watcher> watcher) noexcept;
  void finish(Watch& watch, Error reason);
  void keep_time() noexcept;
  void cut_off(Error reason) noexcept;
  void on_timer() noexcept;
  void end_idle() noexcept;
  void forget_timer();
  Time time_limit() const noexcept;

  // Constant after construction.
  const std::shared_ptr<transport::Connection> below_;
  const std::shared_ptr<ThreadPool> pool_;
  transport::Reactor& reactor_;
  const Duration idle_timeout_;
  const Bytes farewell_;

  // Shared.
  std::atomic<Time> last_traffic_;
  std::atomic<Time> expected_by_{never};

  os::PiMutex mutex_;
  std::shared_ptr<Watch> watch_ CORELANE_GUARDED_BY(mutex_);
  std::shared_ptr<transport::Watcher> paused_ CORELANE_GUARDED_BY(mutex_);
  bool monitors_ CORELANE_GUARDED_BY(mutex_) = false;         // the connection below reports the peer's end
  std::optional<Error> cut_off_ CORELANE_GUARDED_BY(mutex_);  // why the timer closed the connection, if it did
  Time timer_at_ CORELANE_GUARDED_BY(mutex_) = never;         // time of the running timer; never: none
};

}  // namespace corelane::leader_followers
