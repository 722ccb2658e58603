// JobSource: where the thread of one task gets its jobs from in the mode `direct`: the connection that the task has for
// itself. Who reads connections (orb/core) implements it; the task's worker drives it.
//
// Threads: the task's own, but for close(). The first call is opened() or close(), the last is close(), once, or none
// more once it was taken back and has come back as another one.
#pragma once

#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/dispatch/job.h"

namespace corelane::dispatch {

class JobSource {
 public:
  enum class Found : std::uint8_t {
    nothing,  // nothing is there
    piece,    // of a message whose end has not come
    bytes,    // a message that is no job of the task
    job,
    end,  // nothing will ever come again
  };

  virtual ~JobSource() = default;

  // The task's thread has it now: poll() follows.
  virtual void opened() noexcept = 0;
  // Reads at most once. Never blocks. `job`, when found: of the task, its `arrived` set, not submitted.
  virtual Found poll(JobPtr& job, Time now) noexcept = 0;
  // Whether the last poll() took all that was there, as far as it knows: another one is in vain until the descriptor is
  // readable or wake_at() has come.
  virtual bool drained() const noexcept { return false; }
  // Which connection it is: what was lent comes back as another source of the same. Not 0. Constant.
  virtual PeerId connection() const noexcept = 0;
  // Whether it is one that comes back; else somebody has just bound the connection to the task. Constant.
  virtual bool comes_back() const noexcept = 0;
  // Readable when poll() would find something new. Constant.
  virtual int descriptor() const noexcept = 0;
  // When poll() has to be called though nothing came; `never` most of the time.
  virtual Time wake_at() const noexcept = 0;
  // The task's thread may not read it for a while: whoever reads other connections does, and submits what comes.
  // poll(), drained(), descriptor() and wake_at() are called no more. Again after take_back(): that is called off,
  // where it is not too late.
  virtual void lend() noexcept = 0;
  // After lend(): when more comes the task gets a source for the rest, which comes_back().
  virtual void take_back() noexcept = 0;
  // Nobody reads it any more, or nobody ever will: the task has left, or has another connection.
  // Thread: the task's, or before opened() the manager's.
  virtual void close() noexcept = 0;
};

}  // namespace corelane::dispatch
