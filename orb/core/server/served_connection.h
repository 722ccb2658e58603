// ServedConnection is a client's connection that is read by the thread which runs its requests (orb/dispatch/serving).
// It reads bytes, has ServerConnection parse them, and gives requests without a contract to the calling thread.
// Requests with a contract go to the manager. Once the connection has tasks, the reactor's thread reads it instead,
// because its priority is above that of the tasks.
//
// Replies to requests that came with one read are sent together, unless a request among them runs long. Invariant: when
// a thread gives up the turn, waits, or closes the connection, no reply is kept (ServerReplies::keep()).
//
// Threads: as dispatch::RequestSource.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "orb/base/bytes.h"
#include "orb/base/time.h"
#include "orb/core/requests/request_order.h"
#include "orb/dispatch/serving/request_source.h"
#include "orb/os/wait/wait.h"
#include "orb/transport/connection.h"

namespace corelane::core {

class ServerConnection;
class ServerJob;

class ServedConnection final : public dispatch::RequestSource, public transport::Reader {
 public:
  // `half_by`: the deadline for the rest of an incomplete message that was read before this object reads; `never`:
  // there is none.
  ServedConnection(std::shared_ptr<ServerConnection> connection, const RequestOrder::Limits& limits,
                   os::WaitStrategy wait, Time half_by = never);

  Found next(dispatch::JobPtr& job, MutableBytes buffer, Time until) noexcept override;
  void leave() noexcept override;
  void finish(dispatch::JobPtr job) noexcept override;
  void send_kept() noexcept override;
  bool detach() noexcept override;
  Next finish_detached(dispatch::JobPtr job) noexcept override;
  Next take_waiting() noexcept override { return order_.take(); }
  bool begin_wait(dispatch::WaitsFor what) noexcept override;
  bool end_wait(dispatch::WaitsFor what) noexcept override;
  bool arm() noexcept override;
  int descriptor() const noexcept override;
  Time expires_at() const noexcept override {
    return expires_at_.load(std::memory_order_relaxed);  // relaxed: expire() reads it again, with the turn
  }
  bool expire(Time now) noexcept override;
  bool evict(bool surely) noexcept override;
  bool unblocked() noexcept override;
  bool block() noexcept override;
  int hang_up_descriptor() const noexcept override;
  std::optional<std::uint32_t> end_events() const noexcept override;
  void close() noexcept override;

  // For a listener that needs a free connection: transport::Reader.
  bool try_evict() noexcept override;
  void on_drained() noexcept override;

 private:
  using PeerEnd = transport::Connection::PeerEnd;
  static constexpr std::size_t longest_kept_reply = 4096;      // bytes; a longer reply is sent at once
  static constexpr std::size_t most_kept_replies = 32 * 1024;  // bytes of all kept replies together

  Found parse(dispatch::JobPtr& job) noexcept;
  inline Found give(dispatch::JobPtr& job) noexcept;
  Found read(MutableBytes buffer, Time until) noexcept;
  Found end(const Error& reason) noexcept;
  Error why_closed() noexcept;
  void keep_reply(Bytes reply) noexcept;
  bool is_copied() const noexcept;
  void copy_rest() noexcept;
  void note_quiet(Time since) noexcept;
  bool has_stalled(Time now) noexcept;
  inline bool is_unhindered() noexcept;
  bool lacks_bytes() noexcept;
  bool may_go_on() noexcept;
  PeerEnd peer_end() const noexcept {
    return peer_end_.load(std::memory_order_relaxed);  // relaxed: a hint; with the turn, that orders it
  }
  void note_end(PeerEnd end) noexcept;
  bool has_nothing_left() noexcept;
  void go_on(Time now) noexcept;

  const std::shared_ptr<ServerConnection> connection_;
  const os::WaitStrategy wait_;
  const Duration idle_timeout_, backlog_timeout_, header_timeout_, memory_patience_;
  RequestOrder order_;
  std::atomic<Time> expires_at_{never};
  std::atomic<PeerEnd> peer_end_{PeerEnd::none};  // as far as was noticed; the peer may still wait for replies
  std::atomic<bool> only_end_left_{false};        // peer_end_ is set, and all bytes before the end were read

  // Owner: the thread that has the turn.
  Bytes rest_;  // read but not parsed yet: in the reader's buffer, in rest_copy_, or in memory shared with the peer
  std::vector<std::byte> rest_copy_;  // copied from a buffer that went back to its thread
  Time received_{};
  Time last_finish_{};    // when the last request of this read finished, or when the bytes were read
  Time kept_since_{};     // when the oldest reply that is kept was made
  Time half_by_ = never;  // the deadline for the rest of an incomplete message
  bool drained_ = false;  // the last read left room in the buffer, so nothing more was there
  bool blocked_ = false;  // not read: it waits for the peer to take replies, or for memory
  RequestOrder::Key current_key_;
  ServerJob* current_ = nullptr;  // the request that runs on the thread with the turn
};

}  // namespace corelane::core
