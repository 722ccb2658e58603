// TaskBinding is a task that the server admitted for one operation of one reference. Calls of the operation are the
// task's jobs. If the server offers the task a connection of its own, the calls use it while it lasts. Otherwise they
// use the connection over which the task was admitted, which all callers of that server share. The ORB's Reopener
// reopens an own connection that was lost or could not be opened, at the times of ReopenPause.
//
// Threads: any; open_own() before other threads know the binding, reopen() the Reopener's.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "orb/base/contract.h"
#include "orb/base/ids.h"
#include "orb/base/thread_safety.h"
#include "orb/core/client/reopen_pause.h"
#include "orb/core/connections/client_connection.h"
#include "orb/os/clock.h"
#include "orb/os/pi_mutex.h"

namespace corelane::core {

class Reference;

class TaskBinding : public std::enable_shared_from_this<TaskBinding> {
 public:
  // `connection` owns the task; null if the object is local.
  TaskBinding(std::shared_ptr<Reference> reference, std::string operation, TaskId task,
              std::shared_ptr<ClientConnection> connection, Contract contract);
  ~TaskBinding();

  // Opens the task's own connection, within timeout.connect. `token` is the server's; 0 means that it offers none, so
  // that none is tried, now or later. A failure is logged, and the task uses the shared connection until reopen()
  // succeeds. Not for real-time threads.
  void open_own(std::uint64_t token);
  // Opens the own connection again if it is missing and an attempt is due at `now`. It may take as long as open_own().
  // It releases a lost connection when no call uses it any more. That closes it, and a real-time thread must not do
  // that. Returns when to call it again if the connection is not lost before: `never` while there is a connection, or
  // if none can be had any more.
  Time reopen(Time now);

  TaskId task() const noexcept { return task_; }
  const std::string& operation() const noexcept { return operation_; }
  const Contract& contract() const noexcept { return contract_; }
  // Returns the connection for the next call; null if the object is local. `nested`: the call is made on behalf of a
  // caller that may be the task itself. The task's thread reads its own connection only after that call was answered,
  // so a nested call uses the shared one. `now`: when the call began.
  std::shared_ptr<ClientConnection> connection(bool nested = false, Time now = os::now()) noexcept;
  // Notes that a call failed on `connection` and certainly did not run. Returns false if there is no other connection
  // to try.
  bool fall_back(const ClientConnection& connection) noexcept;
  JobId next_job() noexcept { return JobId{jobs_.fetch_add(1, std::memory_order_relaxed) + 1}; }  // relaxed: a number
  // Notifies the server that the task departs. Idempotent, raises nothing.
  void depart() noexcept;

 private:
  std::uint64_t ask_for_token(Time deadline);
  void bind_own(std::uint64_t token, Time deadline);
  bool is_over(const Error& error) const noexcept;
  Time reopen_own(Time now);
  bool let_go_of_lost();
  std::shared_ptr<ClientConnection> own() noexcept;
  bool has_own() noexcept { return own() != nullptr; }
  void tell_server() noexcept;
  void say_fallen_back() noexcept;

  // Constant.
  const std::shared_ptr<Reference> reference_;
  const std::string operation_;
  const TaskId task_;
  const std::shared_ptr<ClientConnection> shared_;
  const Contract contract_;

  // Owner: open_own(), then the Reopener.
  ReopenPause pause_;
  bool given_up_ = false;
  // The own connections that were opened. Lost ones stay until no call uses them, so that no caller's thread closes one
  // while the task exists.
  std::vector<std::shared_ptr<ClientConnection>> opened_;

  os::PiMutex mutex_;
  std::shared_ptr<ClientConnection> own_ CORELANE_GUARDED_BY(mutex_);  // the latest of opened_

  std::atomic<bool> uses_own_{false};  // a hint: there is an own_
  std::atomic<bool> unlogged_{false};  // it fell back, and that was not logged yet
  std::atomic<std::uint64_t> jobs_{0};
  std::atomic<bool> departed_{false};
};

}  // namespace corelane::core
