// MessageQuota reports to a connection's memory account how much of an incomplete message its assembler holds. It also
// keeps which request that is.
// Threads: the one that reads the connection; request() any.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "orb/base/thread_safety.h"
#include "orb/giop/reassembly_quota.h"
#include "orb/os/lock.h"
#include "orb/os/pi_mutex.h"
#include "orb/transport/memory_budget.h"

namespace corelane::core {

class MessageQuota final : public giop::ReassemblyQuota {
 public:
  // `account`: null if nothing counts it.
  explicit MessageQuota(std::shared_ptr<transport::MemoryAccount> account) noexcept : account_(std::move(account)) {}

  bool hold(std::size_t bytes, const Request& request) noexcept override {
    if (request || (bytes == 0 && is_known_)) {
      const os::LockGuard lock(mutex_);
      request_ = request;
      is_known_ = request.has_value();
    }
    if (!account_) return true;
    return account_->hold_half(bytes) && (waits_ || bytes <= uncounted || account_->may_keep_half());
  }
  // Sets whether the connection waits, unread, while there is no room for an incomplete message. Otherwise it ends.
  void set_waits(bool waits) noexcept { waits_ = waits; }

  Request request() const noexcept {
    const os::LockGuard lock(mutex_);
    return request_;
  }

 private:
  static constexpr std::size_t uncounted = 64 * 1024;

  const std::shared_ptr<transport::MemoryAccount> account_;
  bool waits_ = false, is_known_ = false;
  mutable os::PiMutex mutex_;
  Request request_ CORELANE_GUARDED_BY(mutex_);
};

}  // namespace corelane::core
