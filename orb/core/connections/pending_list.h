// PendingList is a list of calls in the order in which they came. It needs no memory: a call has its own links, and is
// in at most one such list.
// Threads: with the lock of WaitingCalls.
#pragma once

#include "orb/core/connections/pending_reply.h"

namespace corelane::core {

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

}  // namespace corelane::core
