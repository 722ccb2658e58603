// JobSource delivers jobs to the thread of one task in the mode `direct`. It is the connection that the task has for
// itself. The code that reads connections (orb/core) implements it; the task's worker calls it.
//
// Threads: the task's own, except for close(). The first call is opened() or close(). The last call is close(), once. A
// source that was lent and taken back may come back as another one; then the old one is not called any more.
#pragma once

#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/dispatch/job.h"

namespace corelane::dispatch {

class JobSource {
 public:
  enum class Found : std::uint8_t {
    nothing,  // there are no bytes
    piece,    // a part of a message whose end has not arrived
    bytes,    // a message that is not a job of the task
    job,
    end,  // nothing more will arrive
  };

  virtual ~JobSource() = default;

  // Tells the source that the task's thread has it now: poll() follows.
  virtual void opened() noexcept = 0;
  // Reads at most once. Never blocks. A job that is found belongs to the task; its `arrived` is set, and it is not
  // submitted.
  virtual Found poll(JobPtr& job, Time now) noexcept = 0;
  // Returns whether the last poll() took everything, as far as the source knows. Then another poll() is useless until
  // the descriptor is readable or wake_at() has come.
  virtual bool drained() const noexcept { return false; }
  // Returns the id of its connection. A connection that was lent comes back as another source with the same id. Not 0.
  // Constant.
  virtual PeerId connection() const noexcept = 0;
  // Returns whether it is a source that comes back. If not, the connection has just been bound to the task. Constant.
  virtual bool comes_back() const noexcept = 0;
  // Returns a descriptor that is readable when poll() would find something new. Constant.
  virtual int descriptor() const noexcept = 0;
  // Returns when poll() must be called even if nothing arrived; mostly `never`.
  virtual Time wake_at() const noexcept = 0;
  // Lends the source, because the task's thread may not read it for a while. The threads that read other connections
  // read it and submit what arrives. poll(), drained(), descriptor() and wake_at() are not called any more. A call
  // after take_back() cancels that, if it is not too late.
  virtual void lend() noexcept = 0;
  // Takes the source back after lend(). When more arrives, the task gets a source for the rest, whose comes_back() is
  // true.
  virtual void take_back() noexcept = 0;
  // Closes the source: the task has left, or has another connection. No thread reads it any more, or ever will.
  // Thread: the task's, or before opened() the manager's.
  virtual void close() noexcept = 0;
};

}  // namespace corelane::dispatch
