#include "orb/core/server/local_call.h"

#include <cxxabi.h>

#include <algorithm>
#include <exception>
#include <optional>

#include "orb/base/errors.h"
#include "orb/base/minor.h"
#include "orb/base/text/what_of.h"
#include "orb/core/chains/call_chain.h"
#include "orb/core/chains/task_wait.h"
#include "orb/core/chains/wire_chain.h"
#include "orb/core/client/task_binding.h"
#include "orb/core/exception.h"
#include "orb/core/orb.h"
#include "orb/core/requests/incidents.h"
#include "orb/core/server/server.h"
#include "orb/core/settings.h"
#include "orb/dispatch/job.h"
#include "orb/os/clock.h"
#include "orb/os/log.h"
#include "orb/os/process/fork_guard.h"
#include "orb/os/thread.h"

namespace corelane::core {
namespace {

[[noreturn]] void fail_servant(Orb& orb, const ActiveObject& object, const Upcall& upcall, std::string_view text) {
  orb.log_servant_exception(
      {.skeleton = object.skeleton(), .upcall = upcall, .answer = ErrorKind::unknown, .text = text});
  raise(Error{ErrorKind::unknown, Completion::maybe, minor::servant_threw});
}

[[gnu::always_inline]] inline void run_upcall(Orb& orb, ActiveObject& object, const Upcall& upcall,
                                              void* const* frame) {
  try {
    upcall.local(object.self(), frame);
  } catch (const UserException& exception) {
    const std::string_view id = exception._rep_id();
    if (std::any_of(upcall.raises.begin(), upcall.raises.end(), [&](const RaisesEntry& e) { return e.id == id; }))
      throw;
    raise(Error{ErrorKind::unknown, Completion::maybe, minor::undeclared_exception});
  } catch (const SystemException& exception) {
    if (!exception.raised_by_orb()) throw;
    const std::string text = text_of_nested(exception);
    orb.log_servant_exception(
        {.skeleton = object.skeleton(), .upcall = upcall, .answer = exception.error().kind, .text = text});
    raise(error_of_nested(exception), text);
  } catch (const abi::__forced_unwind&) {  // the caller's thread ends, and must not be kept from it
    throw;
  } catch (const std::exception& exception) {
    fail_servant(orb, object, upcall, what_of(exception));
  } catch (...) {
    fail_servant(orb, object, upcall, "something that is no std::exception");
  }
}

// Blocks until the manager lets requests pass. Sets `deadline` at the first wait of a call.
void wait_until_active(Orb& orb, ActiveObject& object, const Upcall& upcall, std::optional<Time>& deadline) {
  const Duration patience = orb.settings().request_timeout;
  if (!deadline) deadline = patience == Duration::zero() ? never : os::now() + patience;
  if (!os::is_real_time() && object.manager_state().take_unlogged())
    os::log::warn(Incidents::held_line(std::string(upcall.name), 1));
  if (!object.manager_state().wait_while_holding(*deadline))
    raise(Error{ErrorKind::timeout, Completion::no, minor::deadline_passed});
}

// Runs the operation. Waits while the manager holds requests, no longer than timeout.request.
[[gnu::always_inline]] inline void call_servant(Orb& orb, ActiveObject& object, const Upcall& upcall,
                                                void* const* frame) {
  const InsideServant servant;  // outlives the upcall: the last thread to leave releases the servant
  std::optional<Time> deadline;
  // Bound: the deadline.
  for (;;) {
    {
      const UpcallGuard inside(object);
      if (inside) return run_upcall(orb, object, upcall, frame);
      if (!inside.holding()) raise(inside.error());
    }
    wait_until_active(orb, object, upcall, deadline);
  }
}

// CapturedUpcall is an upcall that another thread makes for the caller. It keeps the exception for the caller.
class CapturedUpcall {
 public:
  CapturedUpcall(Orb& orb, ActiveObject& object, const Upcall& upcall, void* const* frame)
      : orb_(orb), object_(object), upcall_(upcall), frame_(frame) {}
  void make() noexcept {
    capture([&] {
      try {
        call_servant(orb_, object_, upcall_, frame_);
      } catch (const abi::__forced_unwind&) {  // pthread_exit: other work of this thread waits for the call's end
        os::end_with_thread(upcall_.name);
      }
    });
  }
  template <typename Function>
  void capture(Function function) noexcept {
    try {
      function();
    } catch (...) {
      failure_ = std::current_exception();
    }
  }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  Orb& orb_;
  ActiveObject& object_;
  const Upcall& upcall_;
  void* const* const frame_;
  std::exception_ptr failure_;
};

// LocalCallBack is a local call to a task that waits for the caller.
class LocalCallBack final : public CallBack {
 public:
  explicit LocalCallBack(CapturedUpcall& call) : captured_(call) {}
  void run() noexcept override { captured_.make(); }

 private:
  CapturedUpcall& captured_;
};

// LocalJob is a local call that runs as a job of its caller's task. It is on the caller's stack, and the caller waits
// until nothing uses it any more.
class LocalJob final : public dispatch::Job {
 public:
  explicit LocalJob(CapturedUpcall& call) : captured_(call) {}

  void run(const dispatch::JobContext&) noexcept override {
    const ChainedCall::Scope working(call_);
    captured_.make();
  }
  void refuse(const sched::Refusal& refusal) noexcept override {
    captured_.capture([&] { raise(sched::error_of(refusal), Detail{sched::text_of(refusal), refusal}); });
  }
  void fail(Error error) noexcept override {
    captured_.capture([&] { raise(error); });
  }
  void recycle() noexcept override { call_.done(); }
  void wait() {
    call_.wait();
    captured_.rethrow();
  }

 private:
  CapturedUpcall& captured_;
  ChainedCall call_;
};

[[noreturn]] void raise_circle(TaskId caller, const TaskBinding& callee) {
  raise(Error{ErrorKind::transient, Completion::no, minor::tasks_in_circle},
        "task " + std::to_string(callee.task().value) + " (" + callee.operation() + ") waits for task " +
            std::to_string(caller.value) + ", which calls it: " + std::string(minor::text(minor::tasks_in_circle)));
}

// Runs the call as a job of the task that is bound for the operation. Returns false if there is none. If a job of the
// task waits for this call, runs the call as part of that job.
[[gnu::noinline]] bool run_as_job(Reference& reference, ActiveObject& object, const Upcall& upcall,
                                  void* const* frame) {
  const auto bound = reference.binding_of(upcall.name);
  if (!bound) return false;
  const TaskBinding& binding = *bound;
  const os::CancellationDelay delay;
  CapturedUpcall call(*reference.orb(), object, upcall, frame);
  LocalCallBack back(call);
  if (ChainedCall::call_back(binding.task(), back)) return call.rethrow(), true;
  LocalJob job(call);
  job.arrived = os::now();
  job.task = binding.task();
  dispatch::JobPtr handle(&job);
  const giop::ChainContext* nested = ServedChain::current();
  if (nested != nullptr && RemoteCallbackWait::offer(nested->all(), handle)) return job.wait(), true;
  const TaskWait waits(job.task);
  if (waits.closes_circle()) {
    handle.reset();
    raise_circle(waits.task(), binding);
  }
  if (const auto taken = reference.orb()->executive()->submit(handle); !taken) {
    const Error error = taken.error();
    handle.reset();
    raise(error);
  }
  job.wait();
  return true;
}

}  // namespace

[[gnu::hot]] bool call_local(Reference& reference, std::string_view operation, void* const* frame) try {
  if (!reference.is_local()) return false;
  if (os::is_guarded_child()) raise(errors::forked);
  std::shared_ptr<ActiveObject> found;
  ActiveObject* object = reference.cached_local();
  if (object == nullptr || !object->active()) {
    auto looked_up = reference.find_local();
    if (!looked_up) raise(looked_up.error());
    found = std::move(*looked_up);
    object = found.get();
  }
  const Upcall* upcall = object->find(operation);
  if (upcall == nullptr) raise(Error{ErrorKind::bad_operation, Completion::no, minor::no_such_operation});
  if (reference.has_bindings() && run_as_job(reference, *object, *upcall, frame)) return true;
  call_servant(*reference.orb(), *object, *upcall, frame);
  return true;
} catch (SystemException& exception) {  // it may be one that the servant has constructed
  mark_raised_by_orb(exception);
  throw;
}

}  // namespace corelane::core
