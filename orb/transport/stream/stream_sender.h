// StreamSender sends bytes over a link, keeps what the link does not take, and knows whether and why the connection has
// closed. It has the connection's lock, which makes the sends of several threads follow each other.
//
// Threads: any, unless noted. A thread that changes what the reactor or the draining thread has to do for the
// connection asks for an update of it (StreamWork). Updates may come twice or late.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "orb/base/thread_safety.h"
#include "orb/os/pi_mutex.h"
#include "orb/transport/connection.h"
#include "orb/transport/detail/link.h"
#include "orb/transport/detail/reactor_impl.h"
#include "orb/transport/memory_budget.h"
#include "orb/transport/stream/channel_memory.h"
#include "orb/transport/stream/drain_notice.h"
#include "orb/transport/stream/outbox.h"
#include "orb/transport/stream/rest_wait.h"
#include "orb/transport/stream/stream_end.h"
#include "orb/transport/stream/traffic_times.h"
#include "orb/transport/transport.h"

namespace corelane::transport {

// StreamWork is what threads that cannot be called at once do for a connection.
class StreamWork {
 public:
  // Makes what the reactor does for the connection match what it should do. Thread: the reactor's.
  virtual void update() noexcept = 0;
  // Does the same for sending what waits. Thread: the ordinary one that drains, if that is another one.
  virtual void drain() noexcept = 0;

 protected:
  ~StreamWork() = default;
};

class StreamSender {
 public:
  // The link and the times are the connection's. `account`: null if nothing counts what the connection holds.
  StreamSender(Link& link, std::shared_ptr<Reactor::Impl> reactor, TrafficTimes& times, const ConnectionLimits& limits,
               std::shared_ptr<MemoryAccount> account);
  StreamSender(const StreamSender&) = delete;
  StreamSender& operator=(const StreamSender&) = delete;
  // Call it once, before any other thread has the connection. `work` keeps the connection.
  void set_work(std::weak_ptr<StreamWork> work) noexcept { work_ = std::move(work); }
  // Returns what keeps the connection; null while it is being destroyed.
  std::shared_ptr<StreamWork> work() const noexcept { return work_.lock(); }

  // See the functions of Connection with the same names. RestWait says how long they wait with the rest of a message.
  Expected<void> send(std::span<const Bytes> parts, std::uint64_t& position) noexcept;
  Expected<void> send_by(Time until, std::span<const Bytes> parts, std::uint64_t& position) noexcept {
    return send_waiting(until, until, parts, position);
  }
  Expected<void> send_if_room(Time rest_until, std::span<const Bytes> parts, std::uint64_t& position) noexcept {
    return send_waiting(Time{}, rest_until, parts, position);
  }
  void close_if_stalled(Time since) noexcept;
  std::unique_ptr<ReservedSendBuffer> send_buffer(std::size_t bytes) noexcept;
  bool sends_arriving(std::size_t bytes) noexcept;
  void close_when_sent(Time deadline) noexcept;
  bool wait_until_closed(Time deadline) noexcept;
  bool is_open() const noexcept { return end_.is_open(); }
  bool await_drained() noexcept;
  Time backlog_taken_at() const noexcept;
  void read_by(std::weak_ptr<Reader> reader) noexcept;
  void read_for_tasks() noexcept { memory_.keep_soon(work()); }
  ChannelMemory& memory() noexcept { return memory_; }
  const ChannelMemory& memory() const noexcept { return memory_; }

  // Closes the connection, or does nothing if it has closed. Returns the reason that came first.
  Error close_for(Error why) noexcept;
  Error reason() const noexcept;
  // Return whether the request was taken. It is refused if the reactor has stopped, and the connection with it.
  // std::bad_alloc.
  bool ask_for_update();
  bool ask_for_drain();

  // Returns whether what waits is sent by another thread than the reactor's.
  bool drains_apart() const noexcept { return drainer_ != reactor_; }
  Reactor::Impl& drainer() const noexcept { return *drainer_; }
  // Returns whether the calling thread has to go on sending what waits. If not, the next send() that leaves something
  // asks for it again. Thread: the one that drains.
  bool goes_on_draining() noexcept;
  // Sends some of what waits. `in_pieces`: sends ReadGate::bytes_per_turn bytes at most. Returns false if nothing
  // waits, or the link takes no more now.
  bool drain_some(bool in_pieces) noexcept;
  // Makes the link report when it takes more. Thread: the one that drains.
  void await_room() noexcept;
  // Calls the reader and others if they asked to be told when the backlog is empty.
  void tell_if_drained() noexcept;
  // Returns whether anything waits to be sent.
  bool has_backlog() const noexcept;
  // Returns the reader; null if there is none, the connection has closed, or anything waits to be sent.
  std::shared_ptr<Reader> reader_without_backlog() const noexcept;

 private:
  class ChannelSendBuffer;

  Expected<void> send_waiting(Time room_by, Time rest_by, std::span<const Bytes> parts,
                              std::uint64_t& position) noexcept;
  Expected<void> put(std::span<const Bytes> parts, std::uint64_t& position, Time rest_by) CORELANE_REQUIRES(mutex_);
  void finish_begun() CORELANE_REQUIRES(mutex_);
  Time end_of_wait(std::size_t rest, Time by) const noexcept CORELANE_REQUIRES(mutex_);
  void send_rest(std::span<const Bytes> parts, std::size_t sent, Time end) CORELANE_REQUIRES(mutex_);
  Expected<void> leave_to_drainer() CORELANE_REQUIRES(mutex_);
  void close_once_sent(Time deadline) noexcept;

  Link& link_;
  const std::shared_ptr<Reactor::Impl> reactor_;
  const std::shared_ptr<Reactor::Impl> drainer_;  // the reactor of its ordinary thread, which may be the same
  const std::shared_ptr<MemoryAccount> account_;
  TrafficTimes& times_;
  std::weak_ptr<StreamWork> work_;  // constant once set
  mutable os::PiMutex mutex_;
  // Some functions of these three need mutex_.
  StreamEnd end_;
  DrainNotice notice_;
  ChannelMemory memory_;
  Outbox outbox_ CORELANE_GUARDED_BY(mutex_);
  RestWait rest_wait_ CORELANE_GUARDED_BY(mutex_);
  bool draining_ CORELANE_GUARDED_BY(mutex_) = false;  // the thread that drains knows of what is in the outbox
};

}  // namespace corelane::transport
