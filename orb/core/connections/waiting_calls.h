// WaitingCalls is the list of the calls that share a client's connection and wait for their replies.
// Threads: any. The list is its own mutex: lock it with os::LockGuard or os::UniqueLock. It has priority inheritance,
// and is held while a reply is copied to a call of the list, never while reading from the socket.
#pragma once

#include <cstdint>

#include "orb/base/thread_safety.h"
#include "orb/base/time.h"
#include "orb/core/connections/leader_state.h"
#include "orb/core/connections/pending_reply.h"
#include "orb/os/pi_mutex.h"

namespace corelane::core {

// PendingList is a list of calls in the order in which they came. It needs no memory: a call has its own links, and is
// in at most one such list. Threads: with the lock of WaitingCalls.
class PendingList {
 public:
  bool empty() const noexcept { return first_ == nullptr; }
  void push_back(PendingReply& added) noexcept {
    added.call().before = last_;
    added.call().after = nullptr;
    (last_ == nullptr ? first_ : last_->call().after) = &added;
    last_ = &added;
  }
  void erase(const PendingReply& removed) noexcept {
    const CallState& call = removed.call();
    (call.before == nullptr ? first_ : call.before->call().after) = call.after;
    (call.after == nullptr ? last_ : call.after->call().before) = call.before;
  }
  // Returns the first call for which the condition holds; null if there is none.
  template <typename Condition>
  PendingReply* find(Condition condition) const {
    PendingReply* p = first_;
    while (p != nullptr && !condition(p->call())) p = p->call().after;
    return p;
  }
  template <typename Function>
  void for_each(Function function) const {
    for (PendingReply* p = first_; p != nullptr; p = p->call().after) function(*p);
  }

 private:
  PendingReply* first_ = nullptr;
  PendingReply* last_ = nullptr;
};

class CORELANE_CAPABILITY("mutex") WaitingCalls {
 public:
  explicit WaitingCalls(LeaderState& leader) : leader_(leader) {}

  // No analysis: the two functions are the lock.
  void lock() noexcept CORELANE_ACQUIRE() CORELANE_NO_THREAD_SAFETY_ANALYSIS { mutex_.lock(); }
  void unlock() noexcept CORELANE_RELEASE() CORELANE_NO_THREAD_SAFETY_ANALYSIS { mutex_.unlock(); }

  void add(PendingReply& pending) noexcept CORELANE_REQUIRES(this);
  // Removes a call; another waiting call becomes the leader.
  void remove(PendingReply& pending) noexcept CORELANE_REQUIRES(this);
  // Returns the call with that id; null: there is none.
  PendingReply* find(std::uint32_t request_id) const noexcept CORELANE_REQUIRES(this);
  template <typename Function>
  void for_each(Function function) const CORELANE_REQUIRES(this) {
    calls_.for_each(function);
  }

  // Ends the leading of the calling thread; another call of the list leads.
  void stop_leading() noexcept CORELANE_REQUIRES(this);
  // Wakes a thread to lead, if none does. A thread that waits for its own call comes first, because a collector may be
  // busy with a handler.
  void wake_successor() noexcept CORELANE_REQUIRES(this);

  // Returns whether the group's collector has calls to read for. Returns false while an ended call is still being
  // posted: its poster hands it over soon, and a collector that reads would not notice.
  bool may_lead(const ReplyGroup& group) const noexcept CORELANE_REQUIRES(this);
  // Returns the earliest deadline of the group's calls; `without_calls`: it has none.
  Time earliest_deadline(const ReplyGroup& group, Time without_calls) const noexcept CORELANE_REQUIRES(this);
  // Fails the calls of the group whose deadlines have passed, for that reason.
  void expire(const ReplyGroup& group, const Error& why) noexcept CORELANE_REQUIRES(this);
  // Removes the ended calls of the group, and returns them as a list.
  PendingReply* take_ended(ReplyGroup& group) noexcept CORELANE_REQUIRES(this);

 private:
  void update_listed() noexcept CORELANE_REQUIRES(this);

  LeaderState& leader_;
  os::PiMutex mutex_;
  PendingList calls_ CORELANE_GUARDED_BY(this);
};

}  // namespace corelane::core
