// StreamConnection is a Connection over one Link: a stream socket, or a channel.
// Threads: one caller's thread at a time calls receive(). Any thread calls send() and close(). The reactor's thread
// calls the on_... and *_on_reactor functions.
//
// Invariants: the link's descriptors stay open until the destructor, so no thread ever uses a number that now belongs
// to something else. close() is a shutdown. The reactor reads for a watcher, drains the backlog and handles timeouts.
// What it has to do follows from mode_, outbox_ and closed_, and only update_on_reactor() works that out. A thread that
// changes one of them posts a call of that function, an update. Updates may come twice or late. If the reactor has a
// thread for ordinary work, that thread drains the backlog, after updates of its own: drain_on_ordinary().
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "orb/os/fd.h"
#include "orb/os/pi_mutex.h"
#include "orb/transport/connection.h"
#include "orb/transport/detail/connection_limiter.h"
#include "orb/transport/detail/link.h"
#include "orb/transport/detail/outbox.h"
#include "orb/transport/detail/reactor_impl.h"
#include "orb/transport/detail/read_budget.h"
#include "orb/transport/memory_budget.h"
#include "orb/transport/transport.h"

namespace corelane::transport {

class StreamConnection final : public Connection,
                               public ReadinessHandler,
                               public Evictable,
                               public std::enable_shared_from_this<StreamConnection> {
 public:
  // `ticket`: that of an accepted connection.
  StreamConnection(std::unique_ptr<Link> link, std::shared_ptr<Reactor::Impl> reactor, const ConnectionLimits& limits,
                   std::optional<ConnectionLimiter::Ticket> ticket);
  ~StreamConnection() override;
  // Registers an accepted connection with the limiter, before any other thread has it: it may have to make room for
  // others.
  void register_evictable();

  Expected<std::size_t> receive(MutableBytes buffer, Time deadline, os::WaitStrategy strategy) noexcept override {
    return receive_into(buffer, deadline, strategy, nullptr);
  }
  Expected<std::size_t> receive(MutableBytes buffer, Time deadline, os::WaitStrategy strategy,
                                BorrowedBytes& borrowed) noexcept override {
    return receive_into(buffer, deadline, strategy, &borrowed);
  }
  Expected<std::size_t> poll_receive(MutableBytes buffer) noexcept override {
    return poll_receive_into(buffer, nullptr);
  }
  Expected<std::size_t> poll_receive(MutableBytes buffer, BorrowedBytes& borrowed) noexcept override {
    return poll_receive_into(buffer, &borrowed);
  }
  Expected<Arrival> take(MutableBytes buffer) noexcept override { return take_into(buffer, nullptr); }
  Expected<Arrival> take(MutableBytes buffer, BorrowedBytes& borrowed) noexcept override {
    return take_into(buffer, &borrowed);
  }
  using Connection::send;
  Expected<void> send(std::span<const Bytes> parts) noexcept override {
    std::uint64_t ignored = 0;
    return send(parts, ignored);
  }
  Expected<void> send(std::span<const Bytes> parts, std::uint64_t& position) noexcept override;
  Expected<void> send_by(Time until, std::span<const Bytes> parts, std::uint64_t& position) noexcept override;
  void close_if_stalled(Time since) noexcept override;
  std::unique_ptr<ReservedSendBuffer> send_buffer(std::size_t bytes) noexcept override;
  bool may_have_been_read(std::uint64_t position) const noexcept override {
    return link_->may_have_been_read(position);
  }
  Loans loans() const noexcept override { return link_->loans(); }
  void watch(std::shared_ptr<Watcher> watcher) override;
  void unwatch() override;
  void pause_reading() noexcept override;
  void resume_reading() noexcept override;
  void expect_by(Time deadline) noexcept override;
  void read_for_tasks() noexcept override;
  void charge_message(bool is_foreseen) noexcept override;
  void keep_memory() noexcept override;
  std::size_t channel_memory() const noexcept override;
  void renew() noexcept override;
  // relaxed: a limiter that sees it a little late still asks whether the connection may end
  void note_first_message() noexcept override { has_sent_message_.store(true, std::memory_order_relaxed); }
  void close() noexcept override;
  bool is_open() const noexcept override;
  void close_when_sent(Time deadline) noexcept override;
  bool wait_until_closed(Time deadline) noexcept override;
  void set_monitor(std::weak_ptr<ConnectionMonitor> monitor) override;
  const Endpoint& local() const noexcept override { return local_; }
  const Endpoint& peer() const noexcept override { return peer_; }
  int descriptor() const noexcept override { return link_->descriptor(); }
  void read_by(std::weak_ptr<Reader> reader) noexcept override;
  bool await_bytes() noexcept override;
  void arm_descriptor() noexcept override;
  bool await_drained() noexcept override;
  Time backlog_taken_at() const noexcept override;
  bool has_bytes() const noexcept override;
  PeerEnd peer_end() const noexcept override;
  bool has_unread() noexcept override { return link_->has_unread(); }
  int hang_up_descriptor() const noexcept override { return link_->hang_up_descriptor(); }
  Time last_traffic() const noexcept override { return quiet_since(); }
  std::optional<PeerCredentials> credentials() const noexcept override { return credentials_; }
  std::vector<gid_t> groups() const override { return link_->groups(); }
  PeerId id() const noexcept override { return id_; }
  std::shared_ptr<MemoryAccount> memory() const noexcept override { return memory_; }

  Time quiet_since() const noexcept override;
  bool has_sent_message() const noexcept override {
    return has_sent_message_.load(std::memory_order_relaxed);  // relaxed: as in note_first_message()
  }
  bool is_channel() const noexcept override;
  bool evict() noexcept override;

  void on_readable() noexcept override;
  void on_writable() noexcept override;
  void on_hang_up() noexcept override;
  void on_turn(ReadinessHandler::Turn turn) noexcept override;
  void on_stopping() noexcept override;

 private:
  enum class Mode : std::uint8_t { free, receiving, watched };

  class ChannelMeter;
  class Drainer;
  class ChannelSendBuffer;
  struct EndWaiter;
  using Lock = Outbox::Lock;

  Expected<std::size_t> receive_into(MutableBytes buffer, Time deadline, os::WaitStrategy strategy,
                                     BorrowedBytes* borrowed) noexcept;
  Expected<std::size_t> poll_receive_into(MutableBytes buffer, BorrowedBytes* borrowed) noexcept;
  Expected<Arrival> take_into(MutableBytes buffer, BorrowedBytes* borrowed) noexcept;
  bool begin_receiving() noexcept;
  void end_receiving() noexcept;
  Error why_not_received(Io outcome) noexcept;
  Expected<void> put(std::span<const Bytes> parts, std::uint64_t& position, Lock lock);
  Error close_for(Error reason) noexcept;  // returns the reason that came first
  bool takes_more() const noexcept;
  Error why_refused() const noexcept;
  Error reason() noexcept;
  void close_when_sent_on_reactor(Time deadline) noexcept;
  bool monitor_on_reactor();
  bool watch_end_on_reactor();
  bool is_paused() const noexcept { return paused_.load(std::memory_order_relaxed); }  // relaxed: see resume_reading()
  void look_at_end_on_reactor() noexcept;
  std::shared_ptr<ConnectionMonitor> monitor_of_open() noexcept;
  bool watch_on_reactor(bool room);
  void arm_read_on_reactor(Readiness::Rest rest = Readiness::Rest::unknown);
  void arm_write_on_reactor();
  bool drains_apart() const noexcept { return drainer_ != reactor_; }
  bool ask_for_drain();
  void drain_on_ordinary() noexcept;
  void let_backlog_go() noexcept;
  void try_again_on_reactor();
  bool ask_for_update();
  bool defer(ReadinessHandler::Turn turn);
  bool defer_read();
  bool defer_write();
  bool drain_some(bool in_pieces);
  ReadTurn read_so_far() noexcept;
  void tell_if_drained() noexcept;
  void update_on_reactor() noexcept;
  void give_up_on_reactor() noexcept;
  void release_on_reactor();
  void finish_on_reactor();
  void detach_on_reactor();
  void update_timer_on_reactor();
  void on_timer() noexcept;
  Time time_limit() const noexcept;
  bool is_idle_on_reactor() noexcept;
  bool reader_gives_way() noexcept;
  bool has_grown() noexcept;
  void watch_memory() noexcept;
  void look_at_memory_on_reactor() noexcept;
  void shrink() noexcept;
  bool do_elsewhere(void (StreamConnection::*what)() noexcept) noexcept;

  // Constant after construction.
  const std::unique_ptr<Link> link_;
  const std::shared_ptr<Reactor::Impl> reactor_;
  const std::shared_ptr<Reactor::Impl> drainer_;  // the reactor of its ordinary thread, which may be the same
  const Duration idle_timeout_;
  const Endpoint local_;
  const Endpoint peer_;
  const std::optional<PeerCredentials> credentials_;
  const PeerId id_;
  const std::shared_ptr<MemoryAccount> memory_;        // of an accepted connection
  const std::unique_ptr<ChannelMeter> channel_meter_;  // of an accepted connection through a channel

  // Shared.
  std::atomic<Mode> mode_{Mode::free};
  std::atomic<bool> closed_{false};
  std::atomic<Time> last_traffic_;
  std::atomic<Time> expected_by_{never};
  std::atomic<bool> for_tasks_{false};
  std::atomic<bool> paused_{false};                                   // watched, but not read
  std::atomic<bool> noted_message_{false}, noted_unforeseen_{false};  // in the reactor's current turn
  std::atomic<bool> backlogged_{false};                               // the outbox is not empty; changes under the lock

  // Shared, under the lock.
  mutable os::PiMutex mutex_;
  Outbox outbox_;
  bool tells_when_drained_ = false;
  bool draining_ = false;  // the reactor knows of what is in the outbox
  Error reason_{};         // why it closed
  std::shared_ptr<Watcher> watcher_;
  std::weak_ptr<Reader> reader_;
  bool ending_ = false;          // close_when_sent() was called
  bool memory_watched_ = false;  // a timer or thread takes care of shrinking it
  bool monitored_ = false;
  std::weak_ptr<ConnectionMonitor> monitor_;
  EndWaiter* end_waiters_ = nullptr;  // threads in wait_until_closed()

  // Owner: the reactor's thread.
  std::unique_ptr<Readiness> readiness_;
  std::unique_ptr<Readiness> end_;           // of a link that has a descriptor for the end
  std::unique_ptr<Readiness> hang_up_;       // of a monitored link that reports the end by a descriptor of its own
  std::shared_ptr<Watcher> active_watcher_;  // the one that gets the bytes
  bool end_told_ = false;                    // its descriptor has reported the end; reads continue until they find it
  bool read_armed_ = false;
  bool read_waits_ = false;     // readable, and deferred
  bool write_waits_ = false;    // writable, and deferred
  ReadAccount reads_;           // also pays for sending the backlog
  std::size_t turn_bytes_ = 0;  // read in this turn
  std::optional<ConnectionLimiter::Ticket> ticket_;
  std::atomic<bool> has_sent_message_{false};
  TimerId timer_{0};
  Time timer_at_ = never;

  // Owner: the thread that drains.
  std::unique_ptr<Readiness> room_;      // of a link that has a descriptor for room
  std::unique_ptr<Readiness> writable_;  // of any other link, if another thread reads
  bool write_armed_ = false;
};

}  // namespace corelane::transport
