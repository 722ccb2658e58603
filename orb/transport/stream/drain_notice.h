// DrainNotice remembers which reader wants to know when a connection's backlog is empty, and whether that reader is
// still to be told.
// Threads: any, with the connection's lock; may_be_backlogged() without it.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "orb/transport/connection.h"

namespace corelane::transport {

class DrainNotice {
 public:
  // Returns whether something may wait in the backlog. relaxed: the thread that asks has sent the replies after which
  // it asks; it need not know yet of replies that others have sent
  bool may_be_backlogged() const noexcept { return backlogged_.load(std::memory_order_relaxed); }
  void set_backlogged(bool backlogged) noexcept {
    backlogged_.store(backlogged, std::memory_order_relaxed);  // relaxed: see may_be_backlogged()
  }

  // Exchanges the reader for another one, so that the caller can destroy the one before without the lock.
  void swap_reader(std::weak_ptr<Reader>& reader) noexcept { reader_.swap(reader); }
  std::shared_ptr<Reader> reader() const noexcept { return reader_.lock(); }

  // `waits`: something waits in the backlog. If so, asks for a notice. Returns `waits`.
  bool ask(bool waits) noexcept { return asked_ = waits; }
  // Returns the reader if it asked for a notice and nothing waits any more. Null: no notice is due.
  std::shared_ptr<Reader> take_due(bool waits) noexcept {
    return !waits && std::exchange(asked_, false) ? reader() : nullptr;
  }

 private:
  std::atomic<bool> backlogged_{false};
  bool asked_ = false;
  std::weak_ptr<Reader> reader_;
};

}  // namespace corelane::transport
