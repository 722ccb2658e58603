// OwnConnection: a connection that one task has for itself (mode `direct`): the task's thread reads it, without the
// reactor. TaskOffers: the tasks that may still claim one.
//
// How a connection becomes a task's own: the reply of `_corelane_admit` carries a token. The client opens another
// connection to the same server and sends `_corelane_bind` with the task and its token as its first request there. The
// reactor reads that, lets go of the connection, and the executive gives it to the task's thread, which answers.
//
// While the task is on a core where its thread may not read, the connection is lent to the reactor, and its requests go
// the way of others. Once it is taken back it goes to the task's thread again with the first bytes that come.
//
// Threads: as dispatch::JobSource; TaskOffers any.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "orb/base/bytes.h"
#include "orb/base/ids.h"
#include "orb/core/server_connection.h"
#include "orb/dispatch/job_source.h"
#include "orb/os/pi_mutex.h"

namespace corelane::core {

// Invariant: a token is good for one claim, and only as long as the task's owner is there.
class TaskOffers {
 public:
  // A number that nobody guesses; 0 when the system has none to give, or when the process has no descriptors left: the
  // client would wait for a connection that nobody accepts.
  static std::uint64_t make_token() noexcept;

  void offer(TaskId task, std::uint64_t token, const std::shared_ptr<ServerConnection>& owner);
  // The owner of the task whose token that is; null for any other number, and for the same one a second time.
  std::shared_ptr<ServerConnection> claim(TaskId task, std::uint64_t token) noexcept;
  void withdraw(TaskId task) noexcept;
  // Of all tasks of a connection that is gone.
  void withdraw(PeerId owner) noexcept;

 private:
  struct Offer {
    std::uint64_t token;
    PeerId owner;
    std::weak_ptr<ServerConnection> connection;
  };
  os::PiMutex mutex_;
  std::unordered_map<TaskId, Offer> offers_;  // guarded by mutex_
};

// When bytes came that were stamped so and read at `read_at`, and nothing was there at `empty_at`. A stamp from before
// that has been spoilt by a step of the realtime clock, and then the read counts: an arrival from before the request
// came would let the task's next job follow it sooner than the contract says.
Time plausible(Time stamp, Time empty_at, Time read_at) noexcept;

class OwnConnection final : public dispatch::JobSource {
 public:
  // `connection` is bound to its task, and read by nobody. `bind`: the request that is still to be answered;
  // none: it was, and the connection comes back from the reactor.
  OwnConnection(std::shared_ptr<ServerConnection> connection, const std::optional<ReplyTo>& bind);

  void opened() noexcept override;
  Found poll(dispatch::JobPtr& job, Time now) noexcept override;
  bool drained() const noexcept override { return drained_ && rest_.empty(); }
  PeerId connection() const noexcept override { return connection_->id(); }
  bool comes_back() const noexcept override { return !bind_; }
  int descriptor() const noexcept override { return connection_->descriptor(); }
  Time wake_at() const noexcept override { return half_by_; }
  void lend() noexcept override;
  void take_back() noexcept override { connection_->lend_on(false); }
  void close() noexcept override;

 private:
  static constexpr std::size_t buffer_size = 16 * 1024;

  const std::shared_ptr<ServerConnection> connection_;
  const std::optional<ReplyTo> bind_;

  // Owner: whoever calls.
  std::vector<std::byte> buffer_;
  Bytes rest_;            // of what was taken last, not parsed yet
  Time received_{};       // when it came
  Time empty_at_{};       // nothing was there then
  Time half_by_ = never;  // the rest of half a message has to be there by then
  bool drained_ = false;  // the last read left room in the buffer
  bool opened_ = false;
  bool lent_ = false;  // for good: what is taken back is another OwnConnection
};

}  // namespace corelane::core
