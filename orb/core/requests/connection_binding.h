// ConnectionBinding says to which task of another connection a connection is bound, and which thread reads it since
// then (dedicated_connection.h).
// Threads: the one that reads the connection; lend_on() any.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <utility>

#include "orb/base/ids.h"
#include "orb/core/requests/reply_to.h"

namespace corelane::core {

class ServerConnection;

class ConnectionBinding {
 public:
  // `owner`: the connection that owns the task. `request`: the bind request, until the connection is handed over.
  void bind(TaskId task, std::shared_ptr<ServerConnection> owner, const ReplyTo& request) {
    task_ = task;
    owner_ = std::move(owner);
    request_ = request;
  }
  bool is_bound() const noexcept { return task_ != no_task; }
  // Returns the connection that owns the task; null: the connection is not bound.
  const std::shared_ptr<ServerConnection>& owner() const noexcept { return owner_; }
  std::optional<ReplyTo> take_request() noexcept { return std::exchange(request_, std::nullopt); }

  // Return and set the task whose thread reads the connection; no_task: another thread does.
  TaskId reading_task() const noexcept { return reading_task_; }
  void read_by_task() noexcept { reading_task_ = task_; }
  void read_by_others() noexcept { reading_task_ = no_task; }

  // Sets whether the reactor keeps reading the bound connection. Otherwise the next bytes return it to the task.
  void lend_on(bool on) noexcept { lent_.store(on, std::memory_order_relaxed); }   // relaxed: nothing follows from it
  bool is_lent() const noexcept { return lent_.load(std::memory_order_relaxed); }  // relaxed: as in lend_on()

 private:
  TaskId task_ = no_task;
  std::shared_ptr<ServerConnection> owner_;
  std::optional<ReplyTo> request_;
  TaskId reading_task_ = no_task;
  std::atomic<bool> lent_{false};
};

}  // namespace corelane::core
