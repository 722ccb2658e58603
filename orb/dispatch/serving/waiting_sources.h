// WaitingSources holds the connections of ServingThreads that wait for a thread: those with something to serve, in
// their order, and those with requests that waited for others and may run now.
//
// Threads: guarded by the lock of ServingThreads. The connections are linked through themselves, so nothing allocates.
#pragma once

#include <memory>
#include <utility>

#include "orb/dispatch/serving/request_source.h"

namespace corelane::dispatch {

class WaitingSources {
 public:
  using SourcePtr = std::shared_ptr<RequestSource>;

  bool empty() const noexcept { return first_ready_ == nullptr && first_helped_ == nullptr; }

  // Adds a connection with something to serve. Its turn is taken, for the thread that will serve it.
  void push_ready(RequestSource& source) noexcept {
    source.next_ready_ = nullptr;
    (last_ready_ != nullptr ? last_ready_->next_ready_ : first_ready_) = &source;
    last_ready_ = &source;
  }
  // Adds a connection with requests that may run now. False: it is there already.
  bool push_helped(const SourcePtr& source) noexcept {
    if (std::exchange(source->is_helped_, true)) return false;
    source->next_helped_ = std::exchange(first_helped_, source);
    return true;
  }
  // Take out one connection; null: there is none.
  SourcePtr pop_helped() noexcept {
    if (first_helped_ == nullptr) return nullptr;
    SourcePtr helped = std::move(first_helped_);
    first_helped_ = std::move(helped->next_helped_);
    helped->is_helped_ = false;
    return helped;
  }
  SourcePtr pop_ready() noexcept {
    if (first_ready_ == nullptr) return nullptr;
    RequestSource* const first = first_ready_;
    first_ready_ = first->next_ready_;
    if (first_ready_ == nullptr) last_ready_ = nullptr;
    return first->shared_from_this();
  }
  void clear() noexcept {
    first_ready_ = last_ready_ = nullptr;
    while (first_helped_) first_helped_ = SourcePtr(std::move(first_helped_->next_helped_));  // bound: the connections
  }

 private:
  RequestSource* first_ready_ = nullptr;
  RequestSource* last_ready_ = nullptr;
  SourcePtr first_helped_;  // the list keeps its members alive
};

}  // namespace corelane::dispatch
