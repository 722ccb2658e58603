// StreamConnection is a Connection over one Link: a stream socket, or a channel. It consists of parts, and each of its
// functions is that of one part:
//   StreamReceiver  reads for a caller on its own thread
//   StreamReading   reads for a watcher, on the reactor's thread; handles timeouts
//   StreamSender    sends, keeps what the link does not take, and closes the connection
//   StreamDrain     sends what waits; StreamReading has it
//   StreamEviction  makes an accepted connection end if others need its place
// Threads: one caller's thread at a time calls receive(). Any thread calls send() and close().
//
// Invariant: the link's descriptors stay open until the destructor, so no thread ever uses a number that now belongs to
// something else. close() is a shutdown.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "orb/transport/connection.h"
#include "orb/transport/detail/connection_limiter.h"
#include "orb/transport/detail/link.h"
#include "orb/transport/detail/reactor_impl.h"
#include "orb/transport/memory_budget.h"
#include "orb/transport/stream/read_mode.h"
#include "orb/transport/stream/stream_eviction.h"
#include "orb/transport/stream/stream_reading.h"
#include "orb/transport/stream/stream_receiver.h"
#include "orb/transport/stream/stream_sender.h"
#include "orb/transport/stream/traffic_times.h"
#include "orb/transport/transport.h"

namespace corelane::transport {

// StreamIdentity is what does not change while a connection lives.
struct StreamIdentity {
  // `ticket`: that of an accepted connection.
  StreamIdentity(const Link& link, const ConnectionLimits& limits,
                 const std::optional<ConnectionLimiter::Ticket>& ticket);

  Endpoint local, peer;
  std::optional<PeerCredentials> credentials;
  PeerId id;
  std::shared_ptr<MemoryAccount> memory;  // of an accepted connection
};

class StreamConnection final : public Connection {
 public:
  using Ticket = std::optional<ConnectionLimiter::Ticket>;

  // `ticket`: that of an accepted connection, which may have to make room for others from now on.
  static std::shared_ptr<StreamConnection> make(std::unique_ptr<Link> link, std::shared_ptr<Reactor::Impl> reactor,
                                                const ConnectionLimits& limits, Ticket ticket = std::nullopt);
  // For make().
  StreamConnection(std::unique_ptr<Link> link, std::shared_ptr<Reactor::Impl> reactor, const ConnectionLimits& limits,
                   Ticket ticket);

  [[gnu::hot]] Expected<std::size_t> receive(MutableBytes buffer, Time deadline,
                                             os::WaitStrategy strategy) noexcept override {
    return receiver_.receive(buffer, deadline, strategy, nullptr);
  }
  [[gnu::hot]] Expected<std::size_t> receive(MutableBytes buffer, Time deadline, os::WaitStrategy strategy,
                                             BorrowedBytes& borrowed) noexcept override {
    return receiver_.receive(buffer, deadline, strategy, &borrowed);
  }
  Expected<std::size_t> poll_receive(MutableBytes buffer) noexcept override {
    return receiver_.poll_receive(buffer, nullptr);
  }
  Expected<std::size_t> poll_receive(MutableBytes buffer, BorrowedBytes& borrowed) noexcept override {
    return receiver_.poll_receive(buffer, &borrowed);
  }
  Expected<Arrival> take(MutableBytes buffer) noexcept override { return receiver_.take(buffer, nullptr); }
  Expected<Arrival> take(MutableBytes buffer, BorrowedBytes& borrowed) noexcept override {
    return receiver_.take(buffer, &borrowed);
  }
  void take_arriving(bool takes) noexcept override { link_->take_arriving(takes); }
  bool await_bytes() noexcept override { return receiver_.await_bytes(); }
  void arm_descriptor() noexcept override { receiver_.arm_descriptor(); }
  bool has_bytes() const noexcept override { return link_->has_bytes(); }
  bool has_unread() noexcept override { return link_->has_unread(); }
  PeerEnd peer_end() const noexcept override { return is_open() ? link_->peer_end() : PeerEnd::both_directions; }

  using Connection::send;
  Expected<void> send(std::span<const Bytes> parts) noexcept override {
    std::uint64_t ignored = 0;
    return sender_.send(parts, ignored);
  }
  Expected<void> send(std::span<const Bytes> parts, std::uint64_t& position) noexcept override {
    return sender_.send(parts, position);
  }
  [[gnu::hot]] Expected<void> send_by(Time until, std::span<const Bytes> parts,
                                      std::uint64_t& position) noexcept override {
    return sender_.send_by(until, parts, position);
  }
  [[gnu::hot]] Expected<void> send_if_room(Time rest_until, std::span<const Bytes> parts,
                                           std::uint64_t& position) noexcept override {
    return sender_.send_if_room(rest_until, parts, position);
  }
  void close_if_stalled(Time since) noexcept override { sender_.close_if_stalled(since); }
  std::unique_ptr<ReservedSendBuffer> send_buffer(std::size_t bytes) noexcept override {
    return sender_.send_buffer(bytes);
  }
  bool sends_arriving(std::size_t bytes) noexcept override { return sender_.sends_arriving(bytes); }
  bool may_have_been_read(std::uint64_t position) const noexcept override {
    return link_->may_have_been_read(position);
  }
  Loans loans() const noexcept override { return link_->loans(); }
  [[gnu::hot]] bool await_drained() noexcept override { return sender_.await_drained(); }
  Time backlog_taken_at() const noexcept override { return sender_.backlog_taken_at(); }
  void read_by(std::weak_ptr<Reader> reader) noexcept override { sender_.read_by(std::move(reader)); }
  std::size_t channel_memory() const noexcept override { return sender_.memory().bytes(); }
  void keep_memory() noexcept override { sender_.memory().keep(); }

  void watch(std::shared_ptr<Watcher> watcher) override { reading_.watch(std::move(watcher)); }
  void unwatch() override { reading_.unwatch(); }
  void pause_reading() noexcept override { reading_.pause(); }
  void resume_reading() noexcept override { reading_.resume(); }
  void expect_by(Time deadline) noexcept override { reading_.expect_by(deadline); }
  void set_monitor(std::weak_ptr<ConnectionMonitor> monitor) override { reading_.set_monitor(std::move(monitor)); }
  void note_first_message() noexcept override { eviction_.note_first_message(); }
  void charge_message(bool is_foreseen) noexcept override { reading_.account().note_message(is_foreseen); }
  void read_for_tasks() noexcept override {
    if (reading_.account().read_for_tasks()) sender_.read_for_tasks();
  }
  void renew() noexcept override { times_.renew(); }
  Time last_traffic() const noexcept override { return times_.last(); }

  void close() noexcept override { sender_.close_for(StreamEnd::closed_here); }
  [[gnu::hot]] bool is_open() const noexcept override { return sender_.is_open(); }
  void close_when_sent(Time deadline) noexcept override { sender_.close_when_sent(deadline); }
  bool wait_until_closed(Time deadline) noexcept override { return sender_.wait_until_closed(deadline); }

  const Endpoint& local() const noexcept override { return identity_.local; }
  const Endpoint& peer() const noexcept override { return identity_.peer; }
  int descriptor() const noexcept override { return link_->descriptor(); }
  int hang_up_descriptor() const noexcept override { return link_->hang_up_descriptor(); }
  std::optional<PeerCredentials> credentials() const noexcept override { return identity_.credentials; }
  std::vector<gid_t> groups() const override { return link_->groups(); }
  [[gnu::hot]] PeerId id() const noexcept override { return identity_.id; }
  std::shared_ptr<MemoryAccount> memory() const noexcept override { return identity_.memory; }

 private:
  const std::unique_ptr<Link> link_;
  const StreamIdentity identity_;
  ReadMode mode_;
  TrafficTimes times_;
  StreamSender sender_;
  StreamReceiver receiver_;
  StreamReading reading_;
  StreamEviction eviction_;
};

}  // namespace corelane::transport
