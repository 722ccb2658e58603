// WaitingCalls is the list of the calls that share a client's connection and wait for their replies.
// Threads: any. Every function but lock() needs the lock. It has priority inheritance, and is held while a reply is
// copied to a call of the list, never while reading from the socket.
#pragma once

#include <cstdint>
#include <mutex>

#include "orb/base/time.h"
#include "orb/core/connections/leader_state.h"
#include "orb/core/connections/pending_list.h"
#include "orb/core/connections/pending_reply.h"
#include "orb/os/pi_mutex.h"

namespace corelane::core {

class WaitingCalls {
 public:
  using Lock = std::unique_lock<os::PiMutex>;

  explicit WaitingCalls(LeaderState& leader) : leader_(leader) {}

  Lock lock() noexcept { return Lock(mutex_); }

  void add(PendingReply& pending) noexcept;
  // Removes a call; another waiting call becomes the leader.
  void remove(PendingReply& pending) noexcept;
  // Returns the call with that id; null: there is none.
  PendingReply* find(std::uint32_t request_id) const noexcept;
  template <typename Function>
  void for_each(Function function) const {
    calls_.for_each(function);
  }

  // Ends the leading of the calling thread; another call of the list leads.
  void stop_leading() noexcept;
  // Wakes a thread to lead, if none does. A thread that waits for its own call comes first, because a collector may be
  // busy with a handler.
  void wake_successor() noexcept;

  // Returns whether the group's collector has calls to read for. Returns false while an ended call is still being
  // posted: its poster hands it over soon, and a collector that reads would not notice.
  bool may_lead(const ReplyGroup& group) const noexcept;
  // Returns the earliest deadline of the group's calls; `without_calls`: it has none.
  Time earliest_deadline(const ReplyGroup& group, Time without_calls) const noexcept;
  // Fails the calls of the group whose deadlines have passed, for that reason.
  void expire(const ReplyGroup& group, const Error& why) noexcept;
  // Removes the ended calls of the group, and returns them as a list.
  PendingReply* take_ended(ReplyGroup& group) noexcept;

 private:
  void update_listed() noexcept;

  LeaderState& leader_;
  os::PiMutex mutex_;
  PendingList calls_;  // guarded by mutex_
};

}  // namespace corelane::core
