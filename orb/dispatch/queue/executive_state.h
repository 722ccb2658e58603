// Executive::State is the implementation of an Executive: the manager with its core schedulers and threads
// (managed_tasks.h), or tasks that run where their jobs arrive (InlineTasks). For the executive's own files. Each
// function implements the Executive's of the same name, which says who may call it.
#pragma once

#include <memory>
#include <string>

#include "orb/base/minor.h"
#include "orb/dispatch/executive.h"
#include "orb/dispatch/queue/request_queue.h"
#include "orb/dispatch/task_events.h"

namespace corelane::dispatch {

struct Executive::State : private InternalJobQueue {
  ~State() override = default;
  virtual Pushed submit(JobPtr& job) noexcept = 0;
  virtual void admit(AdmissionRequest request, std::unique_ptr<AdmissionHandler> handler) = 0;
  virtual void depart(TaskId task, PeerId owner) noexcept = 0;
  virtual void peer_gone(PeerId peer) noexcept = 0;
  virtual void attach(TaskId task, PeerId owner, std::shared_ptr<JobSource> source) noexcept = 0;
  virtual bool serves_where_read() const noexcept { return false; }  // never changes
  virtual bool serve(std::shared_ptr<RequestSource>) noexcept { return false; }
  virtual bool evict(const std::shared_ptr<RequestSource>&) noexcept { return false; }
  virtual void resume(const std::shared_ptr<RequestSource>&) noexcept {}
  virtual void note_refused_job() noexcept = 0;
  virtual ExecutiveReport report() const = 0;
  // Fails unless it is overridden, because nothing is recorded.
  virtual Expected<std::string> dump_trace(const std::string&) {
    return Error{.kind = ErrorKind::bad_param, .minor = minor::bad_option};
  }
  virtual void stop() noexcept = 0;

  TaskEvents events{*this};

 private:
  void take_internal(JobPtr& job) noexcept override { (void)submit(job); }
};

}  // namespace corelane::dispatch
