// TaskBinding: a task that the server admitted for one operation of one reference; calls of it are the task's jobs.
// They go over a connection of the task's own where the server offers one and as long as it lasts, otherwise over the
// one that the task was admitted on, which all callers of that server share. One that is lost, or could not be had, is
// opened anew on the ORB's Reopener, at ReopenPause's times.
//
// Threads: any; open_own() before others know of the binding, reopen() the Reopener's.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "orb/base/contract.h"
#include "orb/base/ids.h"
#include "orb/core/client_connection.h"
#include "orb/core/reopen_pause.h"
#include "orb/os/pi_mutex.h"

namespace corelane::core {

class Reference;

class TaskBinding : public std::enable_shared_from_this<TaskBinding> {
 public:
  // `connection`: the one that owns the task; null when the object is local.
  TaskBinding(std::shared_ptr<Reference> reference, std::string operation, TaskId task,
              std::shared_ptr<ClientConnection> connection, Contract contract);
  ~TaskBinding();

  // Opens the task's own connection, within timeout.connect. `token`: as the server gave it; 0: it offers none, and
  // nothing is tried, now or later. What goes wrong is said in the log and leaves the task on the shared connection
  // until reopen() succeeds. Not for real-time threads.
  void open_own(std::uint64_t token);
  // Opens it anew where it is missing and an attempt is due at `now`; as long as open_own(). Lets go of the one that
  // was lost, which closes it, once no call uses it: no real-time thread is to. When to be called again unless the
  // connection is lost before: `never` while there is one, or when none will be had any more.
  Time reopen(Time now);

  TaskId task() const noexcept { return task_; }
  const std::string& operation() const noexcept { return operation_; }
  const Contract& contract() const noexcept { return contract_; }
  // What the next call goes over; null when the object is local. `nested`: on behalf of somebody who may be the task
  // itself, whose thread then reads its own connection no sooner than that call has been answered: over the shared one.
  std::shared_ptr<ClientConnection> connection(bool nested = false) noexcept;
  // A call that certainly did not run failed on `connection`. False: there is no other one to try.
  bool fall_back(const ClientConnection& connection) noexcept;
  JobId next_job() noexcept { return JobId{jobs_.fetch_add(1, std::memory_order_relaxed) + 1}; }  // relaxed: a number
  // Tells the server. Idempotent, raises nothing.
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
  // Those that were lost, too, until no call uses them: no caller's thread closes one as long as the task is there.
  std::vector<std::shared_ptr<ClientConnection>> opened_;

  os::PiMutex mutex_;
  std::shared_ptr<ClientConnection> own_;  // guarded by mutex_; the latest of them

  std::atomic<bool> uses_own_{false};  // a hint: there is an own_
  std::atomic<bool> unsaid_{false};    // it fell back, and the log does not say so yet
  std::atomic<std::uint64_t> jobs_{0};
  std::atomic<bool> departed_{false};
};

}  // namespace corelane::core
