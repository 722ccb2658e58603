// DedicatedConnection is a connection that belongs to one task (mode `direct`). The task's thread reads it, without the
// reactor. BindTokens keeps the token of each task until a connection claims it.
//
// How a connection becomes a task's own:
// - The reply of `_corelane_admit` carries a token.
// - The client opens another connection to the same server. Its first request there is `_corelane_bind`, with the task
//   and its token.
// - The reactor reads that request and stops reading the connection. The executive gives the connection to the task's
//   thread, which answers.
//
// While the task is on a core where its thread may not read, the connection is lent to the reactor. Its requests then
// go the same way as others. After take_back() the reactor reads on until the next bytes come. With these it hands the
// connection to the task's thread, as a new DedicatedConnection.
//
// Threads: as dispatch::JobSource; BindTokens any.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "orb/base/bytes.h"
#include "orb/base/ids.h"
#include "orb/base/thread_safety.h"
#include "orb/core/server/server_connection.h"
#include "orb/dispatch/job_source.h"
#include "orb/os/pi_mutex.h"

namespace corelane::core {

// Invariant: a token is valid for one claim, and only while the connection that owns the task is open.
class BindTokens {
 public:
  // Returns a random number that cannot be guessed. Returns 0 if the system provides none, or if the process has no
  // descriptors left. Without a descriptor the client would wait for a connection that the server cannot accept.
  static std::uint64_t make_token() noexcept;

  void issue(TaskId task, std::uint64_t token, const std::shared_ptr<ServerConnection>& owner);
  // Returns the owner of the task if `token` is the task's token. Returns null for any other number, and for the same
  // token a second time.
  std::shared_ptr<ServerConnection> claim(TaskId task, std::uint64_t token) noexcept;
  void withdraw(TaskId task) noexcept;
  // Withdraws the tokens of all tasks of a closed connection. `owner`: the number of that connection.
  void withdraw(PeerId owner) noexcept;

 private:
  struct Entry {
    std::uint64_t token;
    PeerId owner;
    std::weak_ptr<ServerConnection> connection;
  };
  os::PiMutex mutex_;
  std::unordered_map<TaskId, Entry> entries_ CORELANE_GUARDED_BY(mutex_);
};

// Returns when bytes arrived that carry the timestamp `stamp` and were just read; the socket was last found empty at
// `empty_at`. `stamp` is not later than `now()`. A stamp more than a millisecond before `empty_at` is wrong, because
// the realtime clock was set; then it returns `now()`, which is not read otherwise. An arrival time that is too early
// would let the task's next job follow sooner than the contract allows.
Time plausible(Time stamp, Time empty_at, Time (*now)() noexcept) noexcept;

class DedicatedConnection final : public dispatch::JobSource {
 public:
  // `connection` is bound to its task, and no thread reads it. `bind` is the bind request that is still to be answered.
  // Without it, the connection comes back from the reactor and its bind request was answered.
  DedicatedConnection(std::shared_ptr<ServerConnection> connection, const std::optional<ReplyTo>& bind);

  void opened() noexcept override;
  Found poll(dispatch::JobPtr& job, Time now) noexcept override;
  bool drained() const noexcept override { return drained_ && rest_.empty(); }
  PeerId connection() const noexcept override { return connection_->id(); }
  bool comes_back() const noexcept override { return !bind_; }
  int descriptor() const noexcept override { return connection_->stream().descriptor(); }
  Time wake_at() const noexcept override { return half_by_; }
  void lend() noexcept override;
  void take_back() noexcept override { connection_->binding().lend_on(false); }
  void close() noexcept override;

 private:
  static constexpr std::size_t buffer_size = 16 * 1024;

  const std::shared_ptr<ServerConnection> connection_;
  const std::optional<ReplyTo> bind_;

  // Owner: the calling thread.
  std::vector<std::byte> buffer_;
  Bytes rest_;            // of the bytes read last: those not parsed yet
  Time received_{};       // when they arrived
  Time empty_at_{};       // the last time that the socket was found empty
  Time half_by_ = never;  // the deadline for the rest of an incomplete message
  bool drained_ = false;  // the last read left room in the buffer
  bool opened_ = false;
  bool lent_ = false;  // never reset: a connection that is taken back gets another DedicatedConnection
};

}  // namespace corelane::core
