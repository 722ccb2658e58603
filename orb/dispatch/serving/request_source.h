// RequestSource is a connection whose requests without a contract run on the thread that reads them. The code that
// reads connections (orb/core) implements it; ServingThreads calls it.
//
// Threads: the holder of the turn (turn.h), one at a time, unless a function says otherwise.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "orb/base/bytes.h"
#include "orb/base/time.h"
#include "orb/dispatch/current.h"
#include "orb/dispatch/job.h"
#include "orb/dispatch/serving/turn.h"

namespace corelane::dispatch {

class RequestSource : public std::enable_shared_from_this<RequestSource> {
 public:
  enum class Found : std::uint8_t {
    job,      // a request, to run on this thread
    again,    // bytes were taken, and what they asked for was answered or handed in elsewhere
    nothing,  // no bytes came
    full,     // its requests wait for others of this connection; Next::may_read says when to read on
    blocked,  // the peer takes no replies, or memory is short; ServingThreads::resume() follows when that is over
    gone,     // the connection has ended: it is not called any more
    leaves,   // another thread is to read it from here on: leave() follows, and no other call
  };
  virtual ~RequestSource() = default;

  // Returns the next request of what was read already. If there is none, sends what finish() kept, and reads once into
  // `buffer`. The buffer belongs to the source until the next call. Waits for bytes until `until`; a time in the past:
  // does not wait.
  virtual Found next(JobPtr& job, MutableBytes buffer, Time until) noexcept = 0;
  // Gives the connection to the thread that reads it from here on. These threads do not use it, or its descriptor, any
  // more. Does not wait, because stop() does not close the connection any more.
  virtual void leave() noexcept = 0;
  // Sends the reply of a job that has run, or keeps it for a moment if more requests of the same read follow.
  virtual void finish(JobPtr job) noexcept = 0;
  // Sends what finish() kept. Call it before the thread waits for anything but next().
  virtual void send_kept() noexcept = 0;

  // Detaches the job that runs here: it goes on while another thread reads the connection. Keeps what is left in
  // `buffer` of next(), and sends what finish() kept. Returns whether bytes that were read wait to be served.
  virtual bool detach() noexcept = 0;
  // Says what may go on. finish_detached() sends the reply of a detached job that has run, and then returns this.
  struct Next {
    JobPtr job;             // runs on the calling thread, without the turn; null: nothing waits that may run
    bool more = false;      // another thread may take one, too: take_waiting()
    bool may_read = false;  // next() returned `full`, and may be called again
  };
  virtual Next finish_detached(JobPtr job) noexcept = 0;
  // Returns a request that waited and may run now. Thread: any.
  virtual Next take_waiting() noexcept = 0;

  // Notes that a request of the connection begins or ends to wait. While it waits, for example in a nested call, it
  // does not count among those that run. While one waits for the peer, no request is begun. Returns whether
  // take_waiting() has one more now. Thread: any; calls come in pairs.
  virtual bool begin_wait(WaitsFor what) noexcept = 0;
  virtual bool end_wait(WaitsFor what) noexcept = 0;

  // Makes descriptor() readable as soon as something comes, from here on. False: something is there.
  virtual bool arm() noexcept = 0;
  // Constant.
  virtual int descriptor() const noexcept = 0;

  // Returns whether next() would not answer `blocked` now, or whether the peer has ended the connection and next() has
  // not seen that yet. The event of that end comes once, and may have come while the turn was taken. Also called
  // without the turn.
  virtual bool unblocked() noexcept = 0;
  // Checks again whether the connection may be read, and notes the result: from then on it is blocked, or it is not.
  // Returns whether it is blocked.
  virtual bool block() noexcept = 0;
  // Return what to watch a blocked connection for: epoll events on that descriptor that show the end of its peer,
  // besides EPOLLHUP and EPOLLERR. Nothing: that end is known. The descriptor is constant.
  virtual int hang_up_descriptor() const noexcept { return descriptor(); }
  virtual std::optional<std::uint32_t> end_events() const noexcept = 0;

  // Returns when the connection has waited for long enough, if nothing comes; `never`: it may wait forever. Thread:
  // any.
  virtual Time expires_at() const noexcept = 0;
  // Ends the connection because that time has come, unless something came meanwhile. Returns whether it has ended.
  virtual bool expire(Time now) noexcept = 0;
  // Ends the connection because another one needs its place, unless something is under way for the peer. Returns
  // whether it has ended. `surely`: nothing is under way, and the connection ends in any case.
  virtual bool evict(bool surely) noexcept = 0;

  // Closes the connection because the process stops. A thread that waits in next() returns, and finds the source gone.
  // Thread: any.
  virtual void close() noexcept = 0;

  Turn turn;

 private:
  friend class WaitingSources;
  // Guarded by the mutex of ServingThreads.
  RequestSource* next_ready_ = nullptr;
  std::shared_ptr<RequestSource> next_helped_;  // the list keeps its members alive
  bool is_helped_ = false;                      // is in that list
};

}  // namespace corelane::dispatch
